"""Position-wise feed-forward network (section 3.3)."""

from typing import Any

import keras

from keras_transformer.layers import Tensor
from keras_transformer.layers.dense import Dense


@keras.saving.register_keras_serializable(package="keras_transformer")
class FeedForward(keras.layers.Layer):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2 (section 3.3, equation 2): (…, d_model) -> (…, d_model).

    Args:
        dff: Width of the inner layer.
        d_model: Width of the input and the output.
    """

    def __init__(self, dff: int, d_model: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.dff = dff
        self.d_model = d_model
        self.inner = Dense(dff, activation="relu", name="inner", dtype=self.dtype_policy)
        self.outer = Dense(d_model, name="outer", dtype=self.dtype_policy)

    def build(self, input_shape):
        self.inner.build(input_shape)
        self.outer.build((*input_shape[:-1], self.dff))

    def call(self, x: Tensor) -> Tensor:
        return self.outer(self.inner(x))

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.d_model)

    def get_config(self):
        return {**super().get_config(), "dff": self.dff, "d_model": self.d_model}
