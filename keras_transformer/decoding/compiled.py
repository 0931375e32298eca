"""XLA compilation of functions that read a model's weights, and their execution on several cores."""

import collections
import concurrent.futures

import keras

from keras_transformer.backend.devices import cores, find_devices

UNCOMPILED = 16  # Maximum number of programs kept uncompiled; the least recently used one is dropped.
CONFIGS = 256  # Maximum number of configurations whose programs are kept; as above.
LEAST_ROWS = 32  # Rows per shard. With fewer, reading the weights once per shard costs more than the shards save.


class Budget:
    """Limits the programs that a process compiles, because XLA never frees the memory of one.

    When the budget is used up, functions run uncompiled: slower, but their memory can be freed.

    Args:
        programs: Maximum number of programs.
    """

    def __init__(self, programs):
        self.left, self.uncompiled, self.made = programs, collections.OrderedDict(), collections.OrderedDict()

    def take(self):
        """Takes one program from the budget. Returns whether there was one left."""
        if self.left < 1:
            return False
        self.left -= 1
        return True

    def run_uncompiled(self, function, shapes, arguments):
        """Runs a function on TensorFlow without XLA. The graphs of the last ones are kept."""
        import tensorflow as tf

        def trace():
            return tf.function(function, autograph=False).get_concrete_function(*arguments)

        return recent(self.uncompiled, (function, shapes), trace, UNCOMPILED)(*arguments)

    def programs(self, key, make):
        """Returns the programs of a key, made by a function without arguments when they are not remembered."""
        return recent(self.made, key, make, CONFIGS)


def recent(entries, key, make, most):
    """Returns the entry of an `OrderedDict` for a key, and makes it if it is missing. The last used ones are kept."""
    entry = entries.pop(key, None) or make()  # Another thread may take it as well.
    entries[key] = entry
    if len(entries) > most:
        entries.popitem(last=False)
    return entry


def compiled(function, variables, budget=None):
    """Compiles the function with XLA, once for each combination of argument shapes.

    The weights are read at each call, so later training takes effect. PyTorch runs the function without compilation.

    Args:
        function: Function of nested tensors, written in `keras.ops`.
        variables: The Keras variables that it reads.
        budget: A `Budget` of programs for TensorFlow, or None for no limit.

    Returns:
        The compiled function.
    """
    backend = keras.backend.backend()
    if backend == "tensorflow":
        return compiled_by_tensorflow(function, budget)
    if backend == "jax":
        import jax

        @jax.jit
        def stateless(values, *arguments):
            with keras.StatelessScope(state_mapping=list(zip(variables, values))):
                return function(*arguments)

        return lambda *arguments: stateless([variable.value for variable in variables], *arguments)
    return function


def compiled_by_tensorflow(function, budget=None):
    """Compiles the function on TensorFlow.

    One concrete function is kept per combination of shapes, because TensorFlow would warn about repeated tracing.
    Concurrent calls never share a program: see `backend.xla`.
    """
    import tensorflow as tf

    idle = collections.defaultdict(list)  # Idle programs by the shapes of their arguments.

    def run(*arguments):
        shapes = tuple(tuple(x.shape) for x in keras.tree.flatten(arguments))
        programs = idle[shapes]
        try:
            program = programs.pop()  # Atomic, so two threads never get the same program.
        except IndexError:
            if budget and not budget.take():
                return budget.run_uncompiled(function, shapes, arguments)
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
