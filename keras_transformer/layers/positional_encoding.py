"""Positional encoding (section 3.5)."""

import keras
from keras import ops

DRAWN_ROWS = 100  # Of the table that a model's own layers draw; it limits nothing.


def positional_encoding(positions, d_model):
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same angle (section 3.5).

    Args:
        positions: Positions, any numeric dtype, shape (length,) or (batch, length).
        d_model: Width of the encoding; sines stand on even and cosines on odd indices.

    Returns:
        float32 of the shape of `positions` with `d_model` behind it.
    """
    depth = ops.arange(d_model)
    rate = ops.power(10000.0, -ops.cast(2 * (depth // 2), "float32") / d_model)
    angle = ops.expand_dims(ops.cast(positions, "float32"), -1) * rate
    return ops.where(ops.equal(depth % 2, 0), ops.sin(angle), ops.cos(angle))


@keras.saving.register_keras_serializable(package="keras_transformer")
class PositionalEncoding(keras.layers.Layer):
    """Adds the encoding of each position to its embedding: (batch, length, d_model) -> the same shape.

    The rows are computed for the length at hand, so every length works and no table is stored.

    Args:
        position: Rows of `pos_encoding`, the table that notebooks draw; no limit on the inputs.
        d_model: Width of the embeddings.
    """

    def __init__(self, position, d_model, **kwargs):
        super().__init__(**kwargs)
        self.position = position
        self.d_model = d_model

    @property
    def pos_encoding(self):
        """The first `position` rows as float32 of shape (1, position, d_model)."""
        return ops.expand_dims(positional_encoding(ops.arange(self.position), self.d_model), 0)

    def call(self, inputs, positions=None):
        """Adds the encoding of `positions`, (length,) or (batch, length); by default 0, 1, 2 and so on."""
        if positions is None:
            positions = ops.arange(ops.shape(inputs)[1])
        return inputs + ops.cast(positional_encoding(positions, self.d_model), inputs.dtype)

    def compute_output_shape(self, inputs_shape, positions_shape=None):
        return inputs_shape

    def get_config(self):
        return {**super().get_config(), "position": self.position, "d_model": self.d_model}
