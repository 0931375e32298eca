"""Attention masks (section 3.2.3): 1.0 for masked positions, 0.0 for visible ones."""

import keras
from keras import ops

from keras_transformer.layers import Tensor
from keras_transformer.padding import PAD_ID


def create_padding_mask(x: Tensor) -> Tensor:
    """Creates the padding mask, which masks every token id 0, that is, `PAD_ID`.

    Args:
        x: Token ids, integer, shape (batch, length).

    Returns:
        A float32 tensor of shape (batch, 1, 1, length), 1.0 where `x` is 0. The two axes of size 1 broadcast over
        heads and queries.

    Example:
        >>> np.asarray(create_padding_mask(np.array([[5, 8, 0]]))).tolist()
        [[[[0.0, 0.0, 1.0]]]]
    """
    padding = ops.cast(ops.equal(x, PAD_ID), "float32")
    return ops.expand_dims(ops.expand_dims(padding, 1), 1)


def create_look_ahead_mask(x: Tensor) -> Tensor:
    """Creates the look-ahead mask, which masks later positions and padding.

    Each token is predicted from the previous ones only.

    Args:
        x: Token ids, integer, shape (batch, length).

    Returns:
        A float32 tensor of shape (batch, 1, length, length). Row i is 1.0 at every column after i and where `x` is 0.

    Example:
        >>> print(np.asarray(create_look_ahead_mask(np.array([[5, 8, 0]])))[0, 0])
        [[0. 1. 1.]
         [0. 0. 1.]
         [0. 0. 1.]]
    """
    # cumsum does not need a static length, so this also works for symbolic inputs.
    position = ops.cumsum(ops.ones_like(x), axis=1)
    future = ops.cast(ops.expand_dims(position, 2) < ops.expand_dims(position, 1), "float32")
    return ops.maximum(ops.expand_dims(future, 1), create_padding_mask(x))


def create_segment_mask(query_segments: Tensor, key_segments: Tensor) -> Tensor:
    """Creates the mask for packed sequences, which masks the tokens of other sequences in the same row.

    Args:
        query_segments: Segment ids, integer, shape (batch, query length). The sequences of a row are numbered from 1.
            0 is padding.
        key_segments: Segment ids of the keys, integer, shape (batch, key length).

    Returns:
        A float32 tensor of shape (batch, 1, query length, key length), 1.0 where the segment ids differ or the key is
        padding.
    """
    other = ops.not_equal(ops.expand_dims(query_segments, 2), ops.expand_dims(key_segments, 1))
    return ops.maximum(ops.expand_dims(ops.cast(other, "float32"), 1), create_padding_mask(key_segments))


def positions_in_segments(segments: Tensor) -> Tensor:
    """Returns the position of each token within its own packed sequence, counted from 0.

    Args:
        segments: Segment ids as in `create_segment_mask`, shape (batch, length). The tokens of a sequence are
            contiguous.

    Returns:
        An int32 tensor of shape (batch, length).
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
