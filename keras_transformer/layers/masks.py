"""Masks (section 3.2.3): 1.0 where a position must be hidden, 0.0 where it may be seen."""

import keras
from keras import ops


def create_padding_mask(x):
    """Hides padding, that is, every token id 0.

    Args:
        x: Token ids, integer, shape (batch, length).

    Returns:
        float32 of shape (batch, 1, 1, length): 1.0 where `x` is 0. The two axes of 1 broadcast over heads and queries.
    """
    padding = ops.cast(ops.equal(x, 0), "float32")
    return ops.expand_dims(ops.expand_dims(padding, 1), 1)


def create_look_ahead_mask(x):
    """Hides every later position, so that a token is predicted from those before it, and padding.

    Args:
        x: Token ids, integer, shape (batch, length).

    Returns:
        float32 of shape (batch, 1, length, length): row i holds 1.0 at every column after i and where `x` is 0.
    """
    # Counting with cumsum needs no known length, so the same line serves symbolic inputs.
    position = ops.cumsum(ops.ones_like(x), axis=1)
    future = ops.cast(ops.expand_dims(position, 2) < ops.expand_dims(position, 1), "float32")
    return ops.maximum(ops.expand_dims(future, 1), create_padding_mask(x))


@keras.saving.register_keras_serializable(package="keras_transformer")
class PaddingMask(keras.layers.Layer):
    """`create_padding_mask` as a layer: (batch, length) -> (batch, 1, 1, length)."""

    def call(self, x):
        return create_padding_mask(x)


@keras.saving.register_keras_serializable(package="keras_transformer")
class LookAheadMask(keras.layers.Layer):
    """`create_look_ahead_mask` as a layer: (batch, length) -> (batch, 1, length, length)."""

    def call(self, x):
        return create_look_ahead_mask(x)
