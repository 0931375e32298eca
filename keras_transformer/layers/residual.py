"""The residual connection and normalization of every sublayer (section 3.1, with the dropout of section 5.4)."""

import keras

from keras_transformer.backend import xla
from keras_transformer.layers.dropout import Dropout
from keras_transformer.layers.normalization import LayerNormalization, normalized


@keras.saving.register_keras_serializable(package="keras_transformer")
class AddAndNorm(keras.layers.Layer):
    """The residual connection and the normalization of one sublayer: all shapes (batch, length, d_model).

    Post-norm, as in section 3.1: LayerNorm(x + Dropout(Sublayer(x))). Pre-norm, with `norm_first` (Xiong et al. 2020,
    "On Layer Normalization in the Transformer Architecture"): x + Dropout(Sublayer(LayerNorm(x))). Both are computed as

        x = residual(x, sublayer(residual.sublayer_input(x)))

    Args:
        dropout: Dropout rate of the sublayer's output (section 5.4).
        norm_first: Whether the sublayer's input is normalized instead of the sum.
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
        """What the sublayer reads: x, normalized with `norm_first`."""
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
    """What `AddAndNorm` does in training with `norm_first`, as one program."""
    return x + xla.dropout(sublayer, rate, seed)


def dropped_added_normed(x, sublayer, gamma, beta, rate, seed):
    """What `AddAndNorm` does in training without `norm_first`, as one program."""
    return normalized(dropped_added(x, sublayer, rate, seed), gamma, beta)
