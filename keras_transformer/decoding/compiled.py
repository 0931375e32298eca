"""Compiling a function of tensors that reads a model's weights, on each backend."""

import keras


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
    """The same on TensorFlow, which would warn of a function that is traced for several shapes."""
    import tensorflow as tf

    made = {}

    def run(*arguments):
        shapes = tuple(tuple(x.shape) for x in keras.tree.flatten(arguments))
        if shapes not in made:
            made[shapes] = tf.function(function, jit_compile=True).get_concrete_function(*arguments)
        return made[shapes](*arguments)

    return run
