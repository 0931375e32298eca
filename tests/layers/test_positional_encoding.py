import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.layers.positional_encoding import PositionalEncoding, positional_encoding


def table(positions, d_model):
    return ops.convert_to_numpy(positional_encoding(np.arange(positions), d_model))


def test_first_rows():
    s, c = np.sin, np.cos
    expected = [
        [0, 1, 0, 1],
        [s(1), c(1), s(0.01), c(0.01)],
        [s(2), c(2), s(0.02), c(0.02)],
    ]
    np.testing.assert_allclose(table(3, 4), expected, atol=1e-6)


def test_the_table_that_notebooks_draw_follows_the_formula():
    layer = PositionalEncoding(50, 128)
    assert layer.pos_encoding.shape == (1, 50, 128)
    expected = np.zeros((50, 128))
    for pos in range(50):
        for i in range(64):
            expected[pos, 2 * i] = np.sin(pos / 10000 ** (2 * i / 128))
            expected[pos, 2 * i + 1] = np.cos(pos / 10000 ** (2 * i / 128))
    np.testing.assert_allclose(ops.convert_to_numpy(layer.pos_encoding)[0], expected, atol=2e-5)


@pytest.mark.parametrize("k", [1, 7, 50])
def test_a_shift_by_k_is_one_rotation_for_every_position(k):
    d_model, positions = 16, 100
    rotation = np.zeros((d_model, d_model))
    for i in range(0, d_model, 2):
        angle = k / 10000 ** (i / d_model)
        # sin(a + b) = cos b · sin a + sin b · cos a;  cos(a + b) = −sin b · sin a + cos b · cos a
        rotation[i : i + 2, i : i + 2] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    rows = table(positions + k, d_model)
    np.testing.assert_allclose(rows[:positions] @ rotation.T, rows[k:], atol=5e-5)


def test_the_encoding_is_added_to_every_row_of_the_batch():
    x = np.random.default_rng(0).normal(size=(2, 6, 8)).astype("float32")
    output = ops.convert_to_numpy(PositionalEncoding(50, 8)(x))
    np.testing.assert_allclose(output, x + table(6, 8), atol=1e-6)


def test_lengths_beyond_the_table_work():
    output = PositionalEncoding(5, 8)(np.zeros((1, 300, 8), "float32"))
    np.testing.assert_allclose(ops.convert_to_numpy(output)[0], table(300, 8), atol=1e-6)


def test_an_odd_width_ends_with_a_sine():
    np.testing.assert_allclose(table(2, 3)[1], [np.sin(1), np.cos(1), np.sin(10000 ** (-2 / 3))], atol=1e-6)


def test_positions_may_be_given_for_all_rows_or_for_each():
    layer, rows = PositionalEncoding(50, 8), table(50, 8)
    one = ops.convert_to_numpy(layer(np.zeros((1, 4, 8), "float32"), positions=np.arange(3, 7)))
    np.testing.assert_array_equal(one[0], rows[3:7])
    each = ops.convert_to_numpy(layer(np.zeros((2, 3, 8), "float32"), positions=np.array([[0, 1, 0], [5, 6, 7]])))
    np.testing.assert_array_equal(each, [rows[[0, 1, 0]], rows[5:8]])


def test_symbolic_length():
    inputs = keras.Input((None, 8))
    outputs = PositionalEncoding(5, 8)(inputs)
    assert outputs.shape == (None, None, 8)
    model = keras.Model(inputs, outputs)
    np.testing.assert_allclose(ops.convert_to_numpy(model(np.zeros((1, 9, 8))))[0], table(9, 8), atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_rounds_the_sum_only(dtype):
    # Positions beyond 256 are not exact in bfloat16: the angle must not be computed in it.
    output = PositionalEncoding(50, 8, dtype=dtype)(np.zeros((1, 300, 8), "float32"))
    assert keras.backend.standardize_dtype(output.dtype) == dtype
    np.testing.assert_allclose(ops.convert_to_numpy(ops.cast(output, "float32"))[0], table(300, 8), atol=5e-3)


def test_config_round_trip_and_no_weights():
    layer = PositionalEncoding(50, 8, name="position")
    copy = PositionalEncoding.from_config(layer.get_config())
    assert (copy.position, copy.d_model, copy.name) == (50, 8, "position")
    assert copy.get_config() == layer.get_config()
    layer.build((None, None, 8))
    assert layer.weights == []
