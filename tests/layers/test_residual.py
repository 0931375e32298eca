import keras
import numpy as np
from keras import ops

from keras_transformer.layers.residual import AddAndNorm

X = np.array([[[1, 0, 2, 5]]], "float32")
SUBLAYER = np.array([[[-1, 0, -2, -1]]], "float32")
# The sum is [0, 0, 0, 4]: mean 1, variance 3, so (sum − 1) / √3.
NORMALIZED = np.array([[[-1, -1, -1, 3]]]) / np.sqrt(3)


def test_the_sum_is_normalized():
    output = AddAndNorm(dropout=0.5)(X, SUBLAYER)
    np.testing.assert_allclose(ops.convert_to_numpy(output), NORMALIZED, rtol=1e-5)


def test_gain_and_bias_come_after_the_normalization():
    layer = AddAndNorm(dropout=0.0)
    layer.build(X.shape, SUBLAYER.shape)
    layer.set_weights([np.array([1, 2, 3, 4]), np.array([10, 20, 30, 40])])
    expected = NORMALIZED * [1, 2, 3, 4] + [10, 20, 30, 40]
    np.testing.assert_allclose(ops.convert_to_numpy(layer(X, SUBLAYER)), expected, rtol=1e-5)


def test_dropout_takes_from_the_sublayer_and_only_in_training():
    keras.utils.set_random_seed(0)
    layer = AddAndNorm(dropout=0.5)
    x = np.tile([-1, 1], (1, 8, 8)).astype("float32")
    y = np.tile([1, 0], (1, 8, 8)).astype("float32")
    inference = ops.convert_to_numpy(layer(x, y, training=False))
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(x, y)), inference)
    assert not np.array_equal(ops.convert_to_numpy(layer(x, y, training=True)), inference)
    # With nothing from the sublayer there is nothing to drop: x is never touched.
    np.testing.assert_array_equal(
        ops.convert_to_numpy(layer(x, 0 * y, training=True)), ops.convert_to_numpy(layer(x, 0 * y, training=False))
    )


def test_it_is_registered_for_saving():
    layer = AddAndNorm(dropout=0.25, norm_first=True)
    saved = keras.saving.serialize_keras_object(layer)
    assert saved["registered_name"] == "keras_transformer>AddAndNorm"
    assert keras.saving.deserialize_keras_object(saved).get_config() == layer.get_config()


def test_symbolic_shape_and_count():
    layer = AddAndNorm(0.1)
    assert layer(keras.Input((None, 8)), keras.Input((None, 8))).shape == (None, None, 8)
    assert layer.count_params() == 8 + 8


def test_config_round_trip():
    layer = AddAndNorm(0.25, name="norm", dtype="mixed_float16")
    copy = AddAndNorm.from_config(layer.get_config())
    assert (copy.dropout.rate, copy.name) == (0.25, "norm")
    assert copy.get_config() == layer.get_config()
    assert copy.norm.compute_dtype == copy.dropout.compute_dtype == "float16"


def test_pre_norm_normalizes_the_sublayers_input_and_adds_its_output():
    layer = AddAndNorm(dropout=0.5, norm_first=True)
    layer.build(X.shape, SUBLAYER.shape)
    layer.norm.set_weights([np.array([1, 2, 3, 4]), np.array([10, 20, 30, 40])])
    normalized = layer.sublayer_input(np.array([[[0, 0, 0, 4]]], "float32"))
    expected = NORMALIZED * [1, 2, 3, 4] + [10, 20, 30, 40]
    np.testing.assert_allclose(ops.convert_to_numpy(normalized), expected, rtol=1e-5)
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(X, SUBLAYER)), X + SUBLAYER)


def test_post_norm_hands_the_sublayer_what_there_is():
    assert AddAndNorm(dropout=0.5).sublayer_input(X) is X


def test_pre_norm_drops_from_the_sublayer_only_in_training():
    keras.utils.set_random_seed(0)
    layer, ones = AddAndNorm(dropout=0.5, norm_first=True), np.ones((1, 8, 8), "float32")
    dropped = ops.convert_to_numpy(layer(ones, ones, training=True))
    assert set(np.unique(dropped)) == {1, 3}


def test_a_config_from_before_norm_first_is_post_norm():
    config = AddAndNorm(0.25, norm_first=True).get_config()
    assert AddAndNorm.from_config(config).norm_first
    del config["norm_first"]
    assert not AddAndNorm.from_config(config).norm_first
