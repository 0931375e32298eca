"""What is measured while training, over real tokens only."""

import keras
from keras import ops

from keras_transformer.training.fusion import fused
from keras_transformer.training.losses import token_losses


def token_hits(y_true, y_pred):
    """Whether the likeliest token is the right one, and the weights: float32 (batch, length), 0 for padding."""
    weights = ops.cast(ops.not_equal(y_true, 0), "float32")
    predicted = ops.cast(ops.argmax(y_pred, axis=-1), "int32")
    return ops.cast(ops.equal(predicted, ops.cast(y_true, "int32")), "float32") * weights, weights


@keras.saving.register_keras_serializable(package="keras_transformer")
def accuracy(y_true, y_pred):
    """Share of the tokens of a batch that are predicted right, padding left out.

    Args:
        y_true: Token ids to predict, (batch, length), 0 for padding.
        y_pred: Logits, (batch, length, vocab_size).

    Returns:
        A float32 scalar from 0 to 1; 0 if there is no token.
    """
    hits, weights = token_hits(y_true, y_pred)
    return ops.sum(hits) / ops.maximum(ops.sum(weights), 1.0)


class TokenMean(keras.metrics.Metric):
    """A mean over all tokens seen, which a mean over batches of different sizes is not."""

    def __init__(self, name, **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_weight(name="total", initializer="zeros")
        self.tokens = self.add_weight(name="tokens", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        values, weights = fused(self.measure)(y_true, y_pred)
        self.total.assign_add(ops.sum(values))
        self.tokens.assign_add(ops.sum(weights))

    def result(self):
        return self.total / ops.maximum(self.tokens, 1.0)


@keras.saving.register_keras_serializable(package="keras_transformer")
class TokenAccuracy(TokenMean):
    """`accuracy` over all tokens seen."""

    measure = staticmethod(token_hits)

    def __init__(self, name="accuracy", **kwargs):
        super().__init__(name, **kwargs)


@keras.saving.register_keras_serializable(package="keras_transformer")
class Perplexity(TokenMean):
    """exp of the mean cross-entropy over all tokens seen."""

    measure = staticmethod(token_losses)

    def __init__(self, name="perplexity", **kwargs):
        super().__init__(name, **kwargs)

    def result(self):
        return ops.exp(super().result())
