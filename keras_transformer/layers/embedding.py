"""Token embeddings (section 3.4)."""

import keras
from keras import ops

from keras_transformer.layers.dense import times_transposed


@keras.saving.register_keras_serializable(package="keras_transformer")
class TokenEmbedding(keras.layers.Layer):
    """Looks up each token's vector and multiplies it by √d_model; in reverse, the projection that shares its table.

    Args:
        vocab_size: Number of token ids.
        d_model: Width of the vectors.
    """

    def __init__(self, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.d_model = d_model

    def build(self, input_shape):
        # Unit variance after the multiplication, the scale of the positional encoding beside it.
        self.table_initializer = keras.initializers.RandomNormal(stddev=self.d_model**-0.5)
        self.table = self.add_weight(
            name="table",
            shape=(self.vocab_size, self.d_model),
            initializer=self.table_initializer,
            autocast=False,  # Casting the rows looked up is less work than casting the table.
        )

    def call(self, x, reverse=False):
        """Ids (batch, length) to vectors (batch, length, d_model); with `reverse`, vectors to logits of every id."""
        # The reshape changes nothing but the gradient: TensorFlow makes it dense, with a token's occurrences summed.
        # Its sparse gradient would hand Adam each occurrence apart, and Σg² is not (Σg)².
        table = ops.reshape(self.table, (self.vocab_size, self.d_model))
        if reverse:
            return times_transposed(x, ops.cast(table, self.compute_dtype))
        return ops.cast(ops.take(table, x, axis=0), self.compute_dtype) * self.d_model**0.5

    def compute_output_spec(self, x, reverse=False):
        # Spelled out because inference through `take` marks the output as sparse on some backends.
        shape = (*x.shape[:-1], self.vocab_size) if reverse else (*x.shape, self.d_model)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "vocab_size": self.vocab_size, "d_model": self.d_model}
