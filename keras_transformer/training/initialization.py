"""Initial weights that are equal on all backends, although Keras draws different random numbers on each."""

import keras
import tensorflow as tf

from keras_transformer.compat import all_layers
from keras_transformer.layers.embedding import TokenEmbedding


def initialize_as_tensorflow(model):
    """Sets the weights of a new model to those it would have on TensorFlow, so that a seed works on every backend.

    Only kernels and embedding tables are drawn at random; all other weights start as zeros or ones.

    Args:
        model: A built model with the initial weights of its layers.
    """
    if keras.backend.backend() == "tensorflow":
        return
    for layer in all_layers(model):
        if isinstance(layer, keras.layers.Dense):
            layer.kernel.assign(draw(layer.kernel_initializer, layer.kernel.shape))
        elif isinstance(layer, TokenEmbedding):
            layer.table.assign(draw(layer.table_initializer, layer.table.shape))


def draw(initializer, shape):
    """Draws from an initializer as TensorFlow does.

    Args:
        initializer: A `keras.initializers.RandomNormal` or a `GlorotUniform` (Glorot and Bengio 2010, eq. 16).
        shape: Rows and columns.

    Returns:
        A float32 array (rows, columns).
    """
    seed = (initializer.seed, 0)
    if isinstance(initializer, keras.initializers.RandomNormal):
        return tf.random.stateless_normal(shape, seed, initializer.mean, initializer.stddev).numpy()
    limit = (6 / sum(shape)) ** 0.5
    return tf.random.stateless_uniform(shape, seed, -limit, limit).numpy()
