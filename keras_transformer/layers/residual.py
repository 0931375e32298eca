"""Residual connections with dropout and layer normalization around each sublayer (sections 3.1 and 5.4)."""

from typing import Any

import keras

from keras_transformer.layers import Tensor

EPSILON = 1e-6  # Of layer normalization.


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

    def __init__(self, dropout: float, norm_first: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.norm_first = norm_first
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="norm", dtype=self.dtype_policy)

    def build(self, x_shape, sublayer_shape):
        self.norm.build(x_shape)

    def sublayer_input(self, x: Tensor) -> Tensor:
        """Returns the input of the sublayer: `x`, normalized if `norm_first`."""
        return self.norm(x) if self.norm_first else x

    def call(self, x: Tensor, sublayer: Tensor, training: bool | None = None) -> Tensor:
        total = x + self.dropout(sublayer, training=training)
        return total if self.norm_first else self.norm(total)

    def compute_output_shape(self, x_shape, sublayer_shape):
        return x_shape

    def get_config(self):
        return {**super().get_config(), "dropout": self.dropout.rate, "norm_first": self.norm_first}
