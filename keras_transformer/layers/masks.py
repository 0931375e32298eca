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


def create_segment_mask(query_segments, key_segments):
    """Hides what belongs to another text, where several texts share a row.

    Args:
        query_segments: The number of the text that each token belongs to, from 1; 0 for padding. Integer, shape
            (batch, query length).
        key_segments: The same of the keys, shape (batch, key length).

    Returns:
        float32 of shape (batch, 1, query length, key length): 1.0 where the two differ or the key is padding.
    """
    other = ops.not_equal(ops.expand_dims(query_segments, 2), ops.expand_dims(key_segments, 1))
    return ops.maximum(ops.expand_dims(ops.cast(other, "float32"), 1), create_padding_mask(key_segments))


def positions_in_segments(segments):
    """Where each token stands in its own text, from 0: the number of tokens of that text before it.

    Args:
        segments: As in `create_segment_mask`, shape (batch, length); the tokens of a text stand side by side.

    Returns:
        int32 of shape (batch, length).
    """
    same = ops.equal(ops.expand_dims(segments, 2), ops.expand_dims(segments, 1))
    return ops.sum(ops.tril(ops.cast(same, "int32"), k=-1), axis=2)


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


@keras.saving.register_keras_serializable(package="keras_transformer")
class SegmentMask(keras.layers.Layer):
    """`create_segment_mask` as a layer: (batch, query length), (batch, key length) -> (batch, 1, query, key length)."""

    def call(self, query_segments, key_segments):
        return create_segment_mask(query_segments, key_segments)


@keras.saving.register_keras_serializable(package="keras_transformer")
class PositionsInSegments(keras.layers.Layer):
    """`positions_in_segments` as a layer: (batch, length) -> (batch, length)."""

    def call(self, segments):
        return positions_in_segments(segments)
