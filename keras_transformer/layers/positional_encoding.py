"""Positional encoding (section 3.5)."""

from typing import Any

import keras
from keras import ops

from keras_transformer.layers import Tensor

DRAWN_ROWS = 100  # Rows of the table that is plotted. It does not limit the sequence length.


def positional_encoding(positions: Tensor, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same angle (section 3.5).

    Args:
        positions: Positions, any numeric dtype, shape (length,) or (batch, length).
        d_model: Width of the encoding. Even indices hold sines and odd indices cosines.

    Returns:
        A float32 tensor of shape (length, d_model) or (batch, length, d_model).
    """
    depth = ops.arange(d_model)
    rate = ops.power(10000.0, -ops.cast(2 * (depth // 2), "float32") / d_model)
    angle = ops.expand_dims(ops.cast(positions, "float32"), -1) * rate
    return ops.where(ops.equal(depth % 2, 0), ops.sin(angle), ops.cos(angle))


@keras.saving.register_keras_serializable(package="keras_transformer")
class PositionalEncoding(keras.layers.Layer):
    """Adds the positional encoding to embeddings of shape (batch, length, d_model).

    The encoding is computed for the length of the input, so any length works and no table is stored.

    Args:
        position: Number of rows of `pos_encoding`, the table for plots. It does not limit the input length.
        d_model: Width of the embeddings.

    Example:
        >>> print(np.asarray(PositionalEncoding(position=3, d_model=4).pos_encoding)[0].round(2))
        [[ 0.    1.    0.    1.  ]
         [ 0.84  0.54  0.01  1.  ]
         [ 0.91 -0.42  0.02  1.  ]]
    """

    def __init__(self, position: int, d_model: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.position = position
        self.d_model = d_model

    @property
    def pos_encoding(self) -> Tensor:
        """The encoding of the first `position` positions, float32, shape (1, position, d_model)."""
        return ops.expand_dims(positional_encoding(ops.arange(self.position), self.d_model), 0)

    def call(self, inputs: Tensor, positions: Tensor | None = None) -> Tensor:
        """Adds the encoding of `positions`, shape (length,) or (batch, length). Defaults to 0, 1, 2, … in order."""
        if positions is None:
            positions = ops.arange(ops.shape(inputs)[1])
        return inputs + ops.cast(positional_encoding(positions, self.d_model), inputs.dtype)

    def compute_output_shape(
        self, inputs_shape: tuple[int | None, ...], positions_shape: tuple[int | None, ...] | None = None
    ) -> tuple[int | None, ...]:
        return inputs_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "position": self.position, "d_model": self.d_model}
