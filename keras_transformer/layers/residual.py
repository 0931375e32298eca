"""Residual connections with dropout and layer normalization around each sublayer (sections 3.1 and 5.4)."""

import keras
from keras import ops

from keras_transformer.backend import xla


@keras.saving.register_keras_serializable(package="keras_transformer")
class Dropout(keras.layers.Dropout):
    """`keras.layers.Dropout`, compiled by XLA where that is faster."""

    def call(self, inputs, training=False):
        if training and xla.fusible(inputs):
            return xla.fused(xla.dropout)(inputs, self.rate, self.next_seed())
        return super().call(inputs, training=training)

    def next_seed(self):
        """Returns the seed of the next mask, or None if the rate is 0."""
        return self.seed_generator.next() if self.rate else None


EPSILON = 1e-6


@keras.saving.register_keras_serializable(package="keras_transformer")
class LayerNormalization(keras.layers.LayerNormalization):
    """`keras.layers.LayerNormalization` over the last axis, compiled by XLA where that is faster."""

    def __init__(self, epsilon=EPSILON, **kwargs):
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, inputs, training=None):
        if training and xla.fusible(inputs):
            return xla.fused(normalized)(inputs, self.gamma, self.beta, self.epsilon)
        return super().call(inputs)


def normalized(x, gamma, beta, epsilon=EPSILON):
    """The training pass of `LayerNormalization` as one function that XLA can compile."""
    return ops.layer_normalization(x, gamma, beta, axis=-1, epsilon=epsilon)


@keras.saving.register_keras_serializable(package="keras_transformer")
class AddAndNorm(keras.layers.Layer):
    """Residual connection, dropout and layer normalization of one sublayer. All shapes are (batch, length, d_model).

    Post-norm (section 3.1): LayerNorm(x + Dropout(Sublayer(x))). Pre-norm, with `norm_first` (Xiong et al. 2020,
    "On Layer Normalization in the Transformer Architecture"): x + Dropout(Sublayer(LayerNorm(x))). Use both as:

        x = residual(x, sublayer(residual.sublayer_input(x)))

    Args:
        dropout: Dropout rate of the sublayer's output (section 5.4).
        norm_first: Whether to normalize the sublayer's input (pre-norm) instead of the sum (post-norm).
    """

    def __init__(self, dropout, norm_first=False, **kwargs):
        super().__init__(**kwargs)
        self.rate = dropout
        self.norm_first = norm_first
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.norm = LayerNormalization(name="norm", dtype=self.dtype_policy)

    def build(self, x_shape, sublayer_shape):
        self.norm.build(x_shape)

    def sublayer_input(self, x, training=None):
        """Returns the input of the sublayer: `x`, normalized if `norm_first`."""
        return self.norm(x, training=training) if self.norm_first else x

    def call(self, x, sublayer, training=None):
        if not training or not xla.fusible(x, sublayer):
            total = x + self.dropout(sublayer, training=training)
            return total if self.norm_first else self.norm(total, training=training)
        seed = self.dropout.next_seed()
        if self.norm_first:
            return xla.fused(dropped_added)(x, sublayer, self.rate, seed)
        return xla.fused(dropped_added_normed)(x, sublayer, self.norm.gamma, self.norm.beta, self.rate, seed)

    def compute_output_shape(self, x_shape, sublayer_shape):
        return x_shape

    def get_config(self):
        return {**super().get_config(), "dropout": self.rate, "norm_first": self.norm_first}


def dropped_added(x, sublayer, rate, seed):
    """The training pass of `AddAndNorm` with `norm_first`, as one function that XLA can compile."""
    return x + xla.dropout(sublayer, rate, seed)


def dropped_added_normed(x, sublayer, gamma, beta, rate, seed):
    """The training pass of `AddAndNorm` without `norm_first`, as one function that XLA can compile."""
    return normalized(dropped_added(x, sublayer, rate, seed), gamma, beta)
