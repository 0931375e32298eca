import keras
import numpy as np
from keras import ops

from keras_transformer.layers.feed_forward import FeedForward


def test_two_projections_with_a_relu_between():
    layer = FeedForward(dff=3, d_model=2)
    layer.build((None, None, 2))
    layer.inner.set_weights([np.array([[1, 0, -1], [0, 1, 1]]), np.array([0, -5, 1])])
    layer.outer.set_weights([np.array([[1, 0], [0, 1], [10, 100]]), np.array([0.5, -0.5])])
    # [1, 2] -> [1, 2 − 5, −1 + 2 + 1] -> [1, 0, 2] -> [1 + 20, 200];  [4, 1] -> [4, −4, −2] -> [4, 0, 0] -> [4, 0]
    output = layer(np.array([[[1, 2], [4, 1]]], "float32"))
    np.testing.assert_allclose(ops.convert_to_numpy(output), [[[21.5, 199.5], [4.5, -0.5]]], rtol=1e-6)


def test_shapes_and_count():
    layer = FeedForward(dff=32, d_model=8, name="feed_forward")
    assert layer(keras.Input((None, 8))).shape == (None, None, 8)
    assert layer.count_params() == (8 * 32 + 32) + (32 * 8 + 8)


def test_positions_do_not_see_each_other():
    layer = FeedForward(dff=16, d_model=4)
    x = np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32")
    whole = ops.convert_to_numpy(layer(x))
    np.testing.assert_allclose(ops.convert_to_numpy(layer(x[:, 3:4])), whole[:, 3:4], atol=1e-6)


def test_config_round_trip():
    layer = FeedForward(32, 8, name="feed_forward", dtype="mixed_bfloat16")
    copy = FeedForward.from_config(layer.get_config())
    assert (copy.dff, copy.d_model, copy.name) == (32, 8, "feed_forward")
    assert copy.get_config() == layer.get_config()
    assert copy.inner.compute_dtype == copy.outer.compute_dtype == "bfloat16"
