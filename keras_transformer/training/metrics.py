"""Training metrics, with padding masked."""

import keras
from keras import ops

from keras_transformer.backend.xla import fused_before, jit_compile_if_static
from keras_transformer.layers import Tensor
from keras_transformer.padding import PAD_ID
from keras_transformer.training.losses import token_losses


def token_hits(y_true, y_pred):
    """Returns whether the most likely token is correct, and the weights: float32 (batch, length), 0 for padding.

    Ties are won by the first token, as with `argmax`, which takes two to four times as long when compiled.
    """
    weights = ops.cast(ops.not_equal(y_true, PAD_ID), "float32")
    targets = ops.expand_dims(ops.cast(y_true, "int32"), -1)
    logits = ops.cast(y_pred, "float32")
    target_logits = ops.take_along_axis(logits, targets, axis=-1)
    before = ops.less(ops.arange(y_pred.shape[-1]), targets)
    likelier = ops.where(before, ops.greater_equal(logits, target_logits), ops.greater(logits, target_logits))
    rank = ops.sum(ops.cast(likelier, "int32"), axis=-1)
    return ops.cast(ops.equal(rank, 0), "float32") * weights, weights


@keras.saving.register_keras_serializable(package="keras_transformer")
def accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Computes the share of correctly predicted tokens in a batch, without padding.

    Args:
        y_true: Token ids to predict, (batch, length), 0 for padding.
        y_pred: Logits, (batch, length, vocab_size).

    Returns:
        A float32 scalar from 0 to 1; 0 if all positions are padding.

    Example:
        One of two tokens is predicted correctly. The third position is padding.

        >>> logits = np.array([[[0, 0, 9], [0, 0, 9], [0, 0, 9]]], "float32")
        >>> float(accuracy(np.array([[2, 1, 0]]), logits))
        0.5
    """
    hits, weights = jit_compile_if_static(token_hits, y_true, y_pred)
    return ops.sum(hits) / ops.maximum(ops.sum(weights), 1.0)


class TokenMean(keras.metrics.Metric):
    """Mean over all tokens since the last reset, unlike a mean over batches of different sizes."""

    def __init__(self, name, **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_weight(name="total", initializer="zeros")
        self.tokens = self.add_weight(name="tokens", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        values, weights, *_ = fused_before(self.measure, y_true, y_pred)
        self.total.assign_add(ops.sum(values))
        self.tokens.assign_add(ops.sum(weights))

    def result(self):
        return self.total / ops.maximum(self.tokens, 1.0)


@keras.saving.register_keras_serializable(package="keras_transformer")
class TokenAccuracy(TokenMean):
    """`accuracy` over all tokens since the last reset."""

    measure = staticmethod(token_hits)

    def __init__(self, name="accuracy", **kwargs):
        super().__init__(name, **kwargs)


@keras.saving.register_keras_serializable(package="keras_transformer")
class Perplexity(TokenMean):
    """Perplexity: exp of the mean cross-entropy over all tokens since the last reset."""

    measure = staticmethod(token_losses)

    def __init__(self, name="perplexity", **kwargs):
        super().__init__(name, **kwargs)

    def result(self):
        return ops.exp(super().result())
