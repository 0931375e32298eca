"""Parts of the training step that TensorFlow does better compiled, on a CPU too.

The step as a whole is not compiled there: TensorFlow's own kernels multiply at least as fast as what XLA makes of
them, in bfloat16 twice as fast. But each of its other operations is a pass over the memory, and where all logits or all
weights are passed over, one compiled pass takes the place of many.
"""

import functools

import keras


@functools.cache
def fused(function):
    """The function itself, or on TensorFlow the same compiled as one program for each shape that it meets."""
    if keras.backend.backend() != "tensorflow":
        return function
    import tensorflow as tf

    return tf.function(function, jit_compile=True)
