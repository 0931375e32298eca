"""XLA compilation of parts of the training step on TensorFlow, also on a CPU.

Each TensorFlow operation is one pass over memory. For operations on all weights, logits or activations, one compiled
pass replaces many.

The full step is left to Keras, which compiles it on a GPU. On a CPU, XLA is slower than TensorFlow for bfloat16
products. For float32 it is faster, but needs about 160 MB more memory at the tutorial's sizes.
"""

import functools
import operator

import keras

FUSED_CALLS = "keras_transformer/fused"  # Graph collection of the calls of compiled functions.


def fusible(*tensors):
    """Returns whether a function of these tensors would be compiled only once.

    This is true if TensorFlow is tracing a graph and all shapes are static, as with packed sequences. XLA compiles one
    program per shape, which takes too long for batches of many shapes.
    """
    if keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf

    return not tf.executing_eagerly() and all(tf.TensorShape(tensor.shape).is_fully_defined() for tensor in tensors)


@functools.cache
def fused(function):
    """Compiles the function as one XLA program. Its arguments may be Keras variables."""
    import tensorflow as tf

    compiled = tf.function(function, jit_compile=True)
    return lambda *values: compiled(*map(value_of, values))


def value_of(value):
    """Converts a Keras variable, which TensorFlow would treat as an array, to a tensor. Returns the rest unchanged."""
    import tensorflow as tf

    return tf.convert_to_tensor(value) if isinstance(value, keras.Variable) else value


def jit_compile_if_static(function, *tensors):
    """Calls the function with the tensors, compiled if all shapes are static (see `fusible`)."""
    if not fusible(*tensors):
        return function(*tensors)
    result = fused(function)(*tensors)
    graph().add_to_collection(FUSED_CALLS, (function, tensors, result))
    return result


def fused_before(function, *tensors):
    """Returns the earlier result of `jit_compile_if_static` for the same tensors in this graph, or computes it.

    Metrics use this to share work with the loss, because each of them is a pass over all logits. A loss must not use
    it: its gradient would be missing if the earlier result was computed while no gradients were recorded.
    """
    if fusible(*tensors):
        for fused_function, arguments, result in graph().get_collection(FUSED_CALLS):
            if fused_function is function and all(map(operator.is_, arguments, tensors)):
                return result
    return jit_compile_if_static(function, *tensors)


def serialize_calls(*tensors):
    """Returns the same tensors, each available only when all of them are computed. Gradients are treated likewise.

    TensorFlow runs independent computations in parallel, such as the encoder and the first layer of the decoder, but a
    compiled program must not run twice at the same time: during each of its first runs, XLA (2026) lays out its larger
    reductions in a list that has no lock, and the process occasionally ends with SIGSEGV.
    """
    if not fusible(*tensors):
        return tensors
    import tensorflow as tf

    @tf.custom_gradient
    def together(*tensors):
        return tf.tuple(tensors), lambda *gradients: tf.tuple(gradients)

    return together(*tensors)


def graph():
    """Returns the graph that TensorFlow is tracing."""
    import tensorflow as tf

    return tf.compat.v1.get_default_graph()


def dropout(x, rate, seed):
    """Dropout for compiled programs. `seed` is the next seed of a `SeedGenerator`.

    Keras leaves the choice of the random number generator to XLA, whose default takes about 500 ns per number on a
    CPU. Threefry takes 5 ns.
    """
    import tensorflow as tf

    if not rate:
        return x
    return tf.nn.experimental.stateless_dropout(x, rate, tf.cast(seed, "int32"), rng_alg="threefry")
