"""Parts of a training step that TensorFlow does better compiled, on a CPU too.

Each of TensorFlow's operations is a pass over the memory. Where all weights, all logits or all activations are passed
over, one compiled pass takes the place of many.

The step as a whole is left to Keras, which compiles it on a GPU. On a CPU, XLA is slower than TensorFlow at products in
bfloat16; in float32 it is faster, for some 160 MB more memory at the tutorial's sizes.
"""

import functools
import operator

import keras

MADE = "keras_transformer/fused"  # What a graph remembers of the programs called in it.


def fusible(*tensors):
    """Whether a program for these would be compiled once only.

    So it is where TensorFlow traces a graph in which all their shapes are known, as those of packed rows are. XLA
    compiles a program for each shape that it meets, which batches of many shapes would wait for.
    """
    if keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf

    return not tf.executing_eagerly() and all(tf.TensorShape(tensor.shape).is_fully_defined() for tensor in tensors)


@functools.cache
def fused(function):
    """The function compiled as one program; its arguments may be Keras variables."""
    import tensorflow as tf

    compiled = tf.function(function, jit_compile=True)
    return lambda *values: compiled(*map(value_of, values))


def value_of(value):
    """The tensor that a Keras variable holds, which TensorFlow would take for an array; all else as it is."""
    import tensorflow as tf

    return tf.convert_to_tensor(value) if isinstance(value, keras.Variable) else value


def jit_compile_if_static(function, *tensors):
    """What the function returns for the tensors, compiled where that pays."""
    if not fusible(*tensors):
        return function(*tensors)
    made = fused(function)(*tensors)
    graph().add_to_collection(MADE, (function, tensors, made))
    return made


def fused_before(function, *tensors):
    """What `jit_compile_if_static` returned for the same tensors of a graph already; where it did not, it does now.

    For measures that the loss has to compute anyway: each is a pass over all logits. A loss must not look back itself,
    as its gradient would be missing if what it found was made while no gradients were recorded.
    """
    if fusible(*tensors):
        for known, given, made in graph().get_collection(MADE):
            if known is function and all(map(operator.is_, given, tensors)):
                return made
    return jit_compile_if_static(function, *tensors)


def serialize_calls(*tensors):
    """The same tensors, none of which is there before all of them are; and so with their gradients.

    TensorFlow computes what does not depend on each other at the same time, such as the encoder and the first layer of
    the decoder. No compiled program may be run twice at a time: XLA (2026) lays out its larger reductions anew in each
    of the first runs, in a list that it does not guard, and now and then the process ends with SIGSEGV.
    """
    if not fusible(*tensors):
        return tensors
    import tensorflow as tf

    @tf.custom_gradient
    def together(*tensors):
        return tf.tuple(tensors), lambda *gradients: tf.tuple(gradients)

    return together(*tensors)


def graph():
    """The graph that TensorFlow is tracing."""
    import tensorflow as tf

    return tf.compat.v1.get_default_graph()


def dropout(x, rate, seed):
    """Dropout for a compiled program; `seed` is what a `SeedGenerator` gives next.

    Keras leaves the choice of a generator to XLA. Its own one needs some 500 ns a number on a CPU, Threefry 5.
    """
    import tensorflow as tf

    if not rate:
        return x
    return tf.nn.experimental.stateless_dropout(x, rate, tf.cast(seed, "int32"), rng_alg="threefry")
