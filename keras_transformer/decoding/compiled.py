"""Compiling a function of tensors that reads a model's weights, and calling it from several cores, on each backend."""

import collections
import concurrent.futures

import keras

from keras_transformer.backend.devices import cores, find_devices

LEAST_ROWS = 32  # With fewer in each share, the weights that each reads for itself outweigh what is gained.


def compiled(function, variables):
    """The function, compiled by XLA once for every combination of its arguments' shapes.

    Weights are read at each call, so that further training is seen. PyTorch runs the function as it is.

    Args:
        function: Of nested tensors, written in `keras.ops`.
        variables: The Keras variables that it reads.
    """
    backend = keras.backend.backend()
    if backend == "tensorflow":
        return compiled_by_tensorflow(function)
    if backend == "jax":
        import jax

        @jax.jit
        def stateless(values, *arguments):
            with keras.StatelessScope(state_mapping=list(zip(variables, values))):
                return function(*arguments)

        return lambda *arguments: stateless([variable.value for variable in variables], *arguments)
    return function


def compiled_by_tensorflow(function):
    """The same on TensorFlow, which would warn of a function that is traced for several shapes.

    Calls at the same time get programs of their own: see `fusion.serialize_calls`.
    """
    import tensorflow as tf

    idle = collections.defaultdict(list)  # Programs by the shapes of their arguments.

    def run(*arguments):
        programs = idle[tuple(tuple(x.shape) for x in keras.tree.flatten(arguments))]
        try:
            program = programs.pop()  # At once, whatever other threads do.
        except IndexError:
            program = tf.function(function, jit_compile=True).get_concrete_function(*arguments)
        try:
            return program(*arguments)
        finally:
            programs.append(program)

    return run


def num_shards(rows):
    """Into how many parts rows are best shared out: one for each core, as far as there is work for them.

    Most operations of a step are too small for XLA to part, and would leave all cores but one idle. A GPU takes all
    rows at once; PyTorch parts each operation; JAX has one program, which must not run twice at a time
    (`fusion.serialize_calls` says why).
    """
    if find_devices().gpus or keras.backend.backend() != "tensorflow":
        return 1
    return max(1, min(cores(), rows // LEAST_ROWS))


def side_by_side(run, calls):
    """What a compiled function returns for each of some lists of arguments, all at work at the same time."""
    if len(calls) == 1:
        return [run(*calls[0])]
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(lambda arguments: run(*arguments), calls))
