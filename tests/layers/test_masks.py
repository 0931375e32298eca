import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.layers.masks import (
    LookAheadMask,
    PaddingMask,
    PositionsInSegments,
    SegmentMask,
    create_look_ahead_mask,
    create_padding_mask,
    create_segment_mask,
    positions_in_segments,
)


def test_padding_mask_is_one_where_the_id_is_zero():
    mask = create_padding_mask(np.array([[1, 21, 777, 0, 0]]))
    np.testing.assert_array_equal(ops.convert_to_numpy(mask), [[[[0, 0, 0, 1, 1]]]])
    assert keras.backend.standardize_dtype(mask.dtype) == "float32"


def test_padding_mask_keeps_the_rows_of_a_batch_apart():
    mask = create_padding_mask(np.array([[7, 0, 0], [7, 8, 9], [0, 0, 0]]))
    np.testing.assert_array_equal(ops.convert_to_numpy(mask), [[[[0, 1, 1]]], [[[0, 0, 0]]], [[[1, 1, 1]]]])


def test_look_ahead_mask_hides_what_comes_later():
    mask = create_look_ahead_mask(np.array([[1, 2, 3, 4, 5]]))
    expected = [
        [0, 1, 1, 1, 1],
        [0, 0, 1, 1, 1],
        [0, 0, 0, 1, 1],
        [0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0],
    ]
    np.testing.assert_array_equal(ops.convert_to_numpy(mask), [[expected]])
    assert keras.backend.standardize_dtype(mask.dtype) == "float32"


def test_look_ahead_mask_hides_padding_too():
    mask = create_look_ahead_mask(np.array([[0, 5, 1, 5, 5]]))
    expected = [
        [1, 1, 1, 1, 1],
        [1, 0, 1, 1, 1],
        [1, 0, 0, 1, 1],
        [1, 0, 0, 0, 1],
        [1, 0, 0, 0, 0],
    ]
    np.testing.assert_array_equal(ops.convert_to_numpy(mask), [[expected]])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_masks_accept_every_integer_dtype(dtype):
    ids = np.array([[3, 0]], dtype=dtype)
    np.testing.assert_array_equal(ops.convert_to_numpy(create_padding_mask(ids)), [[[[0, 1]]]])
    np.testing.assert_array_equal(ops.convert_to_numpy(create_look_ahead_mask(ids)), [[[[0, 1], [0, 1]]]])


@pytest.mark.parametrize(
    ("layer_class", "function"), [(PaddingMask, create_padding_mask), (LookAheadMask, create_look_ahead_mask)]
)
def test_layers_equal_the_functions(layer_class, function):
    ids = np.array([[4, 5, 6, 0], [0, 1, 0, 2]])
    layer = layer_class.from_config(layer_class(name="mask").get_config())
    assert layer.name == "mask"
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(ids)), ops.convert_to_numpy(function(ids)))


@pytest.mark.parametrize("length", [None, 4])
@pytest.mark.parametrize(
    ("make", "function", "shape"),
    [
        (create_padding_mask, create_padding_mask, (None, 1, 1)),
        (PaddingMask(), create_padding_mask, (None, 1, 1)),
        (create_look_ahead_mask, create_look_ahead_mask, (None, 1, 4)),
        (LookAheadMask(), create_look_ahead_mask, (None, 1, 4)),
    ],
)
def test_masks_of_symbolic_inputs(make, function, shape, length):
    inputs = keras.Input((length,), dtype="int32")
    mask = make(inputs)
    rows = length if shape[2] == 4 else 1
    assert mask.shape == (None, 1, rows, length)
    ids = np.array([[4, 5, 6, 0], [0, 1, 0, 2]])
    values = keras.Model(inputs, mask)(ids)
    np.testing.assert_array_equal(ops.convert_to_numpy(values), ops.convert_to_numpy(function(ids)))


def test_segments_see_themselves_alone_and_no_padding():
    mask = create_segment_mask(np.array([[1, 1, 2, 0]]), np.array([[1, 2, 2, 0]]))
    assert ops.convert_to_numpy(mask).tolist() == [
        [[[0, 1, 1, 1], [0, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 1]]]  # The last query is padding: it sees nothing.
    ]


def test_segment_mask_keeps_the_rows_of_a_batch_apart():
    mask = create_segment_mask(np.array([[1, 2], [1, 1]]), np.array([[1, 1], [1, 2]]))
    assert ops.convert_to_numpy(mask).tolist() == [[[[0, 0], [1, 1]]], [[[0, 1], [0, 1]]]]


def test_positions_are_counted_in_each_segment():
    assert ops.convert_to_numpy(positions_in_segments(np.array([[1, 1, 1, 2, 2, 3, 0]])))[0, :6].tolist() == [
        0, 1, 2, 0, 1, 0
    ]  # fmt: skip


def test_segment_layers_equal_the_functions():
    query, key = np.array([[1, 1, 2]]), np.array([[1, 2, 0, 0]])
    np.testing.assert_array_equal(
        ops.convert_to_numpy(SegmentMask()(query, key)), ops.convert_to_numpy(create_segment_mask(query, key))
    )
    np.testing.assert_array_equal(
        ops.convert_to_numpy(PositionsInSegments()(query)), ops.convert_to_numpy(positions_in_segments(query))
    )
