"""XLA compilation of functions that read a model's weights, and their execution on several cores."""

import collections
import concurrent.futures

import keras

from keras_transformer.backend.devices import cores, find_devices

LEAST_ROWS = 32  # Rows per shard. With fewer, reading the weights once per shard costs more than the shards save.


def compiled(function, variables):
    """Compiles the function with XLA, once for each combination of argument shapes.

    The weights are read at each call, so later training takes effect. PyTorch runs the function without compilation.

    Args:
        function: Function of nested tensors, written in `keras.ops`.
        variables: The Keras variables that it reads.

    Returns:
        The compiled function.
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
    """Compiles the function on TensorFlow.

    One concrete function is kept per combination of shapes, because TensorFlow would warn about repeated tracing.
    Concurrent calls never share a program: see `backend.xla`.
    """
    import tensorflow as tf

    idle = collections.defaultdict(list)  # Idle programs by the shapes of their arguments.

    def run(*arguments):
        programs = idle[tuple(tuple(x.shape) for x in keras.tree.flatten(arguments))]
        try:
            program = programs.pop()  # Atomic, so two threads never get the same program.
        except IndexError:
            compiled = tf.function(function, jit_compile=True, autograph=False)
            program = compiled.get_concrete_function(*arguments)
        try:
            return program(*arguments)
        finally:
            programs.append(program)

    return run


def num_shards(rows):
    """Returns the number of shards to split `rows` into: one per core, with at least `LEAST_ROWS` rows each.

    Most operations of a decoding step are too small for XLA to parallelize, so a single program would leave all cores
    but one idle. One shard is used on a GPU, which processes all rows at once, with PyTorch, which parallelizes each
    operation, and with JAX, whose one program must not run concurrently (see `backend.xla`).
    """
    if find_devices().gpus or keras.backend.backend() != "tensorflow":
        return 1
    return max(1, min(cores(), rows // LEAST_ROWS))


def side_by_side(run, calls):
    """Calls a compiled function with each list of arguments, all in parallel, and returns the list of results."""
    if len(calls) == 1:
        return [run(*calls[0])]
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(lambda arguments: run(*arguments), calls))
