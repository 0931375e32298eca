"""Losses: cross-entropy of the next token, with padding masked."""

import keras
from keras import ops

from keras_transformer.backend.xla import jit_compile_if_static
from keras_transformer.layers import Tensor
from keras_transformer.padding import PAD_ID


def token_losses(y_true, y_pred):
    """Computes the cross-entropy of each position, 0 where the target is padding.

    Args:
        y_true: Token ids to predict, (batch, length), 0 for padding.
        y_pred: Logits, (batch, length, vocab_size).

    Returns:
        The losses in nats and the weights (1 for a token, 0 for padding), both float32 (batch, length).
    """
    weights = ops.cast(ops.not_equal(y_true, PAD_ID), "float32")
    losses = keras.losses.sparse_categorical_crossentropy(y_true, ops.cast(y_pred, "float32"), from_logits=True)
    return losses * weights, weights


def token_and_uniform_losses(y_true, y_pred):
    """Computes `token_losses`, and the cross-entropy of each position with a uniform distribution over the vocabulary.

    The cross-entropy of logits z with a distribution p is log Σ exp(z) - Σ p z. So both losses need the exponentials
    only once. Only in TensorFlow without XLA and without label smoothing is this slower than the loss of Keras alone.

    Args:
        y_true: Token ids to predict, (batch, length), 0 for padding.
        y_pred: Logits, (batch, length, vocab_size).

    Returns:
        The losses of the tokens in nats, the weights (1 for a token, 0 for padding), and the losses with the uniform
        distribution in nats, all float32 (batch, length).
    """
    weights = ops.cast(ops.not_equal(y_true, PAD_ID), "float32")
    logits = ops.cast(y_pred, "float32")
    targets = ops.expand_dims(ops.cast(y_true, "int32"), -1)
    target_logits = ops.squeeze(ops.take_along_axis(logits, targets, axis=-1), -1)
    log_sums = ops.logsumexp(logits, axis=-1)
    return (log_sums - target_logits) * weights, weights, (log_sums - ops.mean(logits, axis=-1)) * weights


@keras.saving.register_keras_serializable(package="keras_transformer")
class TokenLoss(keras.losses.Loss):
    """Cross-entropy that weights every token of an epoch equally, regardless of its batch.

    `loss_function` takes the mean over each batch. If batches group answers of similar lengths, a token of a short
    answer then weighs more than a token of a long one. This loss divides the sum by a constant instead.

    With label smoothing, the target of a position is a distribution: 1 - ε + ε/V for the correct token and ε/V for each
    of the other V - 1 tokens of the vocabulary.

    Args:
        tokens_per_batch: Average number of tokens to predict in a batch; it only scales the loss.
        label_smoothing: Share of the target that is spread over the vocabulary (ε_ls, section 5.4).
    """

    def __init__(self, tokens_per_batch, label_smoothing=0.0, name="token_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        self.tokens_per_batch = tokens_per_batch
        self.label_smoothing = label_smoothing

    def __call__(self, y_true, y_pred, sample_weight=None):
        """Returns the loss of a batch, without the float32 copies of ids and logits that Keras would make."""
        if sample_weight is not None:
            raise ValueError("TokenLoss weights every token equally and does not support sample weights")
        return self.call(y_true, y_pred)

    def call(self, y_true, y_pred):
        losses, _, spread = jit_compile_if_static(token_and_uniform_losses, y_true, y_pred, found_as=token_losses)
        if self.label_smoothing:
            losses = (1 - self.label_smoothing) * losses + self.label_smoothing * spread
        return ops.sum(losses) / self.tokens_per_batch

    def get_config(self):
        settings = {"tokens_per_batch": self.tokens_per_batch, "label_smoothing": self.label_smoothing}
        return {**super().get_config(), **settings}


@keras.saving.register_keras_serializable(package="keras_transformer")
def loss_function(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Computes the mean cross-entropy of the tokens of a batch; padding is excluded from sum and count.

    Args:
        y_true: Token ids to predict, (batch, length), 0 for padding.
        y_pred: Logits, (batch, length, vocab_size).

    Returns:
        A float32 scalar, in nats per token; 0 if all positions are padding.

    Example:
        All four tokens are equally likely, so the loss is ln 4, whatever the padding.

        >>> round(float(loss_function(np.array([[2, 1, 0]]), np.zeros((1, 3, 4)))), 3)
        1.386
    """
    losses, weights = jit_compile_if_static(token_losses, y_true, y_pred)
    return ops.sum(losses) / ops.maximum(ops.sum(weights), 1.0)
