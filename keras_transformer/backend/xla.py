"""XLA compilation, put on a model from outside, for the training step on TensorFlow, also on a CPU.

Each TensorFlow operation is one pass over memory. For element-wise operations on all weights, logits or activations,
one compiled pass replaces many.

The full step is left to Keras, which compiles it on a GPU. On a CPU, XLA is slower than TensorFlow for bfloat16
products. For float32 it is faster, but needs about 160 MB more memory at the tutorial's sizes.

**A compiled program must not run twice at the same time on a CPU.** XLA gives larger float32 reductions to a library
(YNNPACK). In each of the first runs of a program, it rearranges them for this library, in a list that has no lock.
If two of these runs overlap, the process ends, in rare cases, with SIGSEGV. It happened in training, where TensorFlow
runs independent computations in parallel, such as the encoder and the first layer of the decoder, which share programs.
Different programs may run at the same time.

Three places prevent it:

- `serialize_calls`, in graphs that are trained: the decoder waits for the encoder, and so do their gradients.
- `decoding.compiled` gives each of several concurrent calls a program of its own.
- `export.graph_search` takes a process-wide lock in the graph of a SavedModel, which may be called concurrently.

They can be removed when XLA fills the list under a lock. To try a new TensorFlow, `python -m benchmarks.xla_reductions`
counts the processes that end by a signal.
"""

import functools
import operator

import keras
from keras import ops

from keras_transformer.compat import all_layers
from keras_transformer.layers.attention import MultiHeadAttention, attention_logits, attention_weights
from keras_transformer.layers.residual import EPSILON, AddAndNorm
from keras_transformer.models.decoder import Decoder

FUSED_CALLS = "keras_transformer/fused"  # Graph collection of the calls of compiled functions.


# A model


def fuse_elementwise(model):
    """Compiles what lies between the matrix products of a model, in graphs where all shapes are static.

    Only this model object is changed: not its class, its weights, its configuration or what is saved of it. On other
    backends than TensorFlow nothing is done.

    Args:
        model: A `transformer()` or any other model or layer of this package, built.
    """
    if keras.backend.backend() != "tensorflow":
        return
    for layer in all_layers(model):
        if isinstance(layer, MultiHeadAttention):
            layer.attention = fused_attention
        elif type(layer) in FUSED:
            layer.call = functools.partial(FUSED[type(layer)], layer, layer.call)


def fused_attention(query, key, value, mask):
    """`scaled_dot_product_attention` with a compiled softmax. The products stay as they are."""
    masks = () if mask is None else (mask,)
    weights = jit_compile_if_static(attention_weights, attention_logits(query, key), *masks)
    return ops.matmul(weights, ops.cast(value, weights.dtype)), weights


def fused_dropout(layer, call, inputs, training=False):
    """The `call` of a `keras.layers.Dropout`."""
    if not training or not fusible(inputs):
        return call(inputs, training=training)
    return fused(dropout)(inputs, layer.rate, next_seed(layer))


def fused_norm(layer, call, inputs):
    """The `call` of a `keras.layers.LayerNormalization`."""
    return fused(normalized)(inputs, layer.gamma, layer.beta) if fusible(inputs) else call(inputs)


def fused_add_and_norm(layer, call, x, sublayer, training=None):
    """The `call` of an `AddAndNorm`."""
    if not training or not fusible(x, sublayer):
        return call(x, sublayer, training=training)
    rate, seed = layer.dropout.rate, next_seed(layer.dropout)
    if layer.norm_first:
        return fused(dropped_added)(x, sublayer, rate, seed)
    return fused(dropped_added_normed)(x, sublayer, layer.norm.gamma, layer.norm.beta, rate, seed)


def decoder_after_encoder(layer, call, x, memory, *args, **kwargs):
    """The `call` of a `Decoder`, which begins when the encoder has ended: see `serialize_calls`."""
    if memory is not None:
        x, memory = serialize_calls(x, memory)
    return call(x, memory, *args, **kwargs)


FUSED = {
    keras.layers.Dropout: fused_dropout,
    keras.layers.LayerNormalization: fused_norm,
    AddAndNorm: fused_add_and_norm,
    Decoder: decoder_after_encoder,
}


def next_seed(layer):
    """Returns the seed of a dropout layer's next mask, or None if its rate is 0."""
    return layer.seed_generator.next() if layer.rate else None


def dropped_added_normed(x, sublayer, gamma, beta, rate, seed):
    """Add & Norm after the sublayer, as one function that XLA can compile."""
    return normalized(dropped_added(x, sublayer, rate, seed), gamma, beta)


def dropped_added(x, sublayer, rate, seed):
    """The residual connection with dropout, as one function that XLA can compile."""
    return x + dropout(sublayer, rate, seed)


def normalized(x, gamma, beta):
    """Layer normalization over the last axis, as one function that XLA can compile."""
    return ops.layer_normalization(x, gamma, beta, axis=-1, epsilon=EPSILON)


def dropout(x, rate, seed):
    """Dropout for compiled programs. `seed` is the next seed of a `SeedGenerator`.

    Keras leaves the choice of the random number generator to XLA, whose default takes about 500 ns per number on a
    CPU. Threefry takes 5 ns.
    """
    import tensorflow as tf

    if not rate:
        return x
    return tf.nn.experimental.stateless_dropout(x, rate, tf.cast(seed, "int32"), rng_alg="threefry")


# A function


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

    compiled = tf.function(function, jit_compile=True, autograph=False)
    return lambda *values: compiled(*map(value_of, values))


def value_of(value):
    """Converts a Keras variable, which TensorFlow would treat as an array, to a tensor. Returns the rest unchanged."""
    import tensorflow as tf

    return tf.convert_to_tensor(value) if isinstance(value, keras.Variable) else value


def jit_compile_if_static(function, *tensors, found_as=None):
    """Calls the function with the tensors, compiled if all shapes are static (see `fusible`).

    `fused_before` then finds this result: as that of `found_as`, if given, which the function must return first.
    """
    if not fusible(*tensors):
        return function(*tensors)
    result = fused(function)(*tensors)
    graph().add_to_collection(FUSED_CALLS, (found_as or function, tensors, result))
    return result


def fused_before(function, *tensors):
    """Returns the earlier result of `jit_compile_if_static` for the same tensors in this graph, or computes it.

    Metrics use this to share work with the loss, because each of them is a pass over all logits. The earlier result may
    have further items at its end (`found_as`). A loss must not use this: its gradient would be missing if the earlier
    result was computed while no gradients were recorded.
    """
    if fusible(*tensors):
        for fused_function, arguments, result in graph().get_collection(FUSED_CALLS):
            if fused_function is function and all(map(operator.is_, arguments, tensors)):
                return result
    return jit_compile_if_static(function, *tensors)


def serialize_calls(*tensors):
    """Returns the same tensors, each available only when all of them are computed. Gradients are treated likewise.

    What is computed from them never runs beside what computes them. The top of this file says why.
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
