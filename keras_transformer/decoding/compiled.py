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
        import tensorflow as tf

        return tf.function(function, jit_compile=True)
    if backend == "jax":
        import jax

        @jax.jit
        def stateless(values, *arguments):
            with keras.StatelessScope(state_mapping=list(zip(variables, values))):
                return function(*arguments)

        return lambda *arguments: stateless([variable.value for variable in variables], *arguments)
    return function
