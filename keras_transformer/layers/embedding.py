"""Token embeddings (section 3.4)."""

from typing import Any

import keras
from keras import ops

from keras_transformer.layers import Tensor
from keras_transformer.layers.dense import times_transposed


@keras.saving.register_keras_serializable(package="keras_transformer")
class TokenEmbedding(keras.layers.Layer):
    """Looks up token embeddings and scales them by √d_model. In reverse, projects with the same table (tied weights).

    Args:
        vocab_size: Size of the vocabulary.
        d_model: Width of the embeddings.
    """

    def __init__(self, vocab_size: int, d_model: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.d_model = d_model

    def build(self, input_shape):
        # Gives unit variance after the scaling, which matches the scale of the positional encoding.
        self.table_initializer = keras.initializers.RandomNormal(stddev=self.d_model**-0.5)
        self.table = self.add_weight(
            name="table",
            shape=(self.vocab_size, self.d_model),
            initializer=self.table_initializer,
            autocast=False,  # Casting the looked-up rows is cheaper than casting the table.
        )

    def call(self, x: Tensor, reverse: bool = False) -> Tensor:
        """Maps ids (batch, length) to embeddings (batch, length, d_model). With `reverse`, maps those to logits."""
        # The reshape only affects the gradient: TensorFlow makes it dense and sums over the occurrences of a token.
        # A sparse gradient would give Adam each occurrence separately, and Σg² is not (Σg)².
        table = ops.reshape(self.table, (self.vocab_size, self.d_model))
        if reverse:
            return times_transposed(x, ops.cast(table, self.compute_dtype))
        return ops.cast(ops.take(table, x, axis=0), self.compute_dtype) * self.d_model**0.5

    def compute_output_spec(self, x, reverse=False):
        # Explicit, because shape inference through `take` marks the output as sparse on some backends.
        shape = (*x.shape[:-1], self.vocab_size) if reverse else (*x.shape, self.d_model)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "vocab_size": self.vocab_size, "d_model": self.d_model}
