"""Our linear layer beside Keras's own, for single rows and for many."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.layers.dense import Dense, times_transposed


def pair(depth, units, **kwargs):
    """Ours and Keras's layer with the same weights."""
    layers = Dense(units, **kwargs), keras.layers.Dense(units, **kwargs)
    for layer in layers:
        layer.build((None, depth))
        layer.set_weights([np.random.default_rng(0).normal(size=shape) for shape in ((depth, units), (units,))])
    return layers


@pytest.mark.parametrize("shape", [(1, 8), (1, 1, 8), (2, 8), (1, 3, 8), (5, 1, 8)], ids=str)
@pytest.mark.parametrize("activation", [None, "relu"])
def test_it_is_the_layer_of_keras(shape, activation):
    ours, theirs = pair(8, 3, activation=activation)
    x = np.random.default_rng(1).normal(size=shape).astype("float32")
    assert ops.shape(ours(x)) == (*shape[:-1], 3)
    np.testing.assert_allclose(ops.convert_to_numpy(ours(x)), ops.convert_to_numpy(theirs(x)), rtol=1e-5, atol=1e-6)


def test_a_depth_that_cannot_be_cut_in_parts():
    ours, theirs = pair(6, 3)
    x = np.arange(6, dtype="float32")[None]
    np.testing.assert_allclose(ops.convert_to_numpy(ours(x)), ops.convert_to_numpy(theirs(x)), rtol=1e-5)


def test_half_precision_stays_half():
    layer = Dense(3, dtype="mixed_bfloat16")
    assert keras.backend.standardize_dtype(layer(np.ones((1, 8), "float32")).dtype) == "bfloat16"


@pytest.mark.parametrize("shape", [(1, 6), (1, 1, 6), (2, 6), (2, 3, 6)], ids=str)
@pytest.mark.parametrize("units", [8, 7])
def test_times_transposed(shape, units):
    random = np.random.default_rng(0)
    x, table = (random.normal(size=size).astype("float32") for size in (shape, (units, 6)))
    product = times_transposed(ops.convert_to_tensor(x), ops.convert_to_tensor(table))
    np.testing.assert_allclose(ops.convert_to_numpy(product), x @ table.T, rtol=1e-5, atol=1e-6)
