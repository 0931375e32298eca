"""The loss: cross-entropy of the next token, over real tokens only."""

import keras
from keras import ops

from keras_transformer.backend.xla import jit_compile_if_static


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

    With label smoothing the target of a position is a distribution: 1 - ε + ε/V for the token to predict, ε/V for each
    other of the vocabulary's V.

    Args:
        tokens_per_batch: Tokens to predict in an average batch; it sets the scale of the loss only.
        label_smoothing: Share of the target that is spread over the vocabulary (ε_ls, section 5.4).
    """

    def __init__(self, tokens_per_batch, label_smoothing=0.0, name="token_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        self.tokens_per_batch = tokens_per_batch
        self.label_smoothing = label_smoothing

    def __call__(self, y_true, y_pred, sample_weight=None):
        """The loss of a batch; Keras would first make copies of ids and logits in float32."""
        if sample_weight is not None:
            raise ValueError("a TokenLoss weighs every token the same: it takes no sample weights")
        return self.call(y_true, y_pred)

    def call(self, y_true, y_pred):
        losses, weights = jit_compile_if_static(token_losses, y_true, y_pred)
        if self.label_smoothing:
            spread = jit_compile_if_static(uniform_losses, y_pred) * weights
            losses = (1 - self.label_smoothing) * losses + self.label_smoothing * spread
        return ops.sum(losses) / self.tokens_per_batch

    def get_config(self):
        settings = {"tokens_per_batch": self.tokens_per_batch, "label_smoothing": self.label_smoothing}
        return {**super().get_config(), **settings}


def uniform_losses(y_pred):
    """Cross-entropy at each position if every token of the vocabulary were as right as any other.

    It is the mean of -log softmax, computed without an array of (batch, length, vocab_size) for the targets.

    Args:
        y_pred: Logits, (batch, length, vocab_size).

    Returns:
        The losses in nats, float32 (batch, length).
    """
    y_pred = ops.cast(y_pred, "float32")
    return ops.logsumexp(y_pred, axis=-1) - ops.mean(y_pred, axis=-1)


@keras.saving.register_keras_serializable(package="keras_transformer")
def loss_function(y_true, y_pred):
    """Mean cross-entropy of the tokens of a batch, padding left out of both sum and count.

    Args:
        y_true: Token ids to predict, (batch, length), 0 for padding.
        y_pred: Logits, (batch, length, vocab_size).

    Returns:
        A float32 scalar, in nats per token; 0 if there is no token.
    """
    losses, weights = jit_compile_if_static(token_losses, y_true, y_pred)
    return ops.sum(losses) / ops.maximum(ops.sum(weights), 1.0)
