"""The loss: cross-entropy of the next token, over real tokens only."""

import keras
from keras import ops


def token_losses(y_true, y_pred):
    """Cross-entropy at each position, 0 where the target is padding.

    Args:
        y_true: Token ids to predict, (batch, length), 0 for padding.
        y_pred: Logits, (batch, length, vocab_size).

    Returns:
        The losses in nats and the weights (1 for a token, 0 for padding), both float32 (batch, length).
    """
    weights = ops.cast(ops.not_equal(y_true, 0), "float32")
    losses = keras.losses.sparse_categorical_crossentropy(y_true, ops.cast(y_pred, "float32"), from_logits=True)
    return losses * weights, weights


@keras.saving.register_keras_serializable(package="keras_transformer")
class TokenLoss(keras.losses.Loss):
    """Cross-entropy in which every token of an epoch weighs the same, whatever batch it stands in.

    `loss_function` takes the mean of each batch, so that where batches hold answers of similar lengths, a token of a
    short answer weighs more than one of a long answer. Here the sum is divided by a constant instead.

    Args:
        tokens_per_batch: Tokens to predict in an average batch; it sets the scale of the loss only.
    """

    def __init__(self, tokens_per_batch, name="token_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        self.tokens_per_batch = tokens_per_batch

    def call(self, y_true, y_pred):
        return ops.sum(token_losses(y_true, y_pred)[0]) / self.tokens_per_batch

    def get_config(self):
        return {**super().get_config(), "tokens_per_batch": self.tokens_per_batch}


@keras.saving.register_keras_serializable(package="keras_transformer")
def loss_function(y_true, y_pred):
    """Mean cross-entropy of the tokens of a batch, padding left out of both sum and count.

    Args:
        y_true: Token ids to predict, (batch, length), 0 for padding.
        y_pred: Logits, (batch, length, vocab_size).

    Returns:
        A float32 scalar, in nats per token; 0 if there is no token.
    """
    losses, weights = token_losses(y_true, y_pred)
    return ops.sum(losses) / ops.maximum(ops.sum(weights), 1.0)
