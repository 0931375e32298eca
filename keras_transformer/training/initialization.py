"""New weights, which Keras draws otherwise on each backend, alike on all."""

import keras
import tensorflow as tf

from keras_transformer.layers.embedding import TokenEmbedding


def draw_alike(model):
    """Gives a new model the weights that it would have on TensorFlow: the same for the same seed on every backend.

    Kernels and the tables of embeddings are all that is drawn; the rest begins as zeros and ones.

    Args:
        model: A built model whose weights are as its layers' initializers made them.
    """
    if keras.backend.backend() == "tensorflow":
        return
    for layer in model._flatten_layers():
        if isinstance(layer, keras.layers.Dense):
            layer.kernel.assign(draw(layer.kernel_initializer, layer.kernel.shape))
        elif isinstance(layer, TokenEmbedding):
            layer.table.assign(draw(layer.table_initializer, layer.table.shape))


def draw(initializer, shape):
    """What an initializer draws on TensorFlow: a float32 array of that shape (rows, columns).

    Args:
        initializer: A `keras.initializers.RandomNormal`, or else a `GlorotUniform` (Glorot and Bengio 2010, eq. 16).
        shape: Two numbers.
    """
    seed = (initializer.seed, 0)
    if isinstance(initializer, keras.initializers.RandomNormal):
        return tf.random.stateless_normal(shape, seed, initializer.mean, initializer.stddev).numpy()
    limit = (6 / sum(shape)) ** 0.5
    return tf.random.stateless_uniform(shape, seed, -limit, limit).numpy()
