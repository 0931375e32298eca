"""Adam with a moving average of the weights: what is validated and kept is steadier than the weights of any one step.

The paper averages its last checkpoints (section 6.1); this does the same as training goes on.
"""

import keras

MOMENTUM = 0.99  # The average reaches back over about 100 steps.


@keras.saving.register_keras_serializable(package="keras_transformer")
class AveragingAdam(keras.optimizers.Adam):
    """Adam that keeps the average beside the weights, and does not put it in their place when `fit` ends.

    TensorFlow compiles its update, which then passes over the weights and moments once instead of once an operation.
    """

    def apply(self, grads, trainable_variables=None):
        """One update of all weights."""
        update = super().apply
        if keras.backend.backend() != "tensorflow":
            return update(grads, trainable_variables)
        import tensorflow as tf

        @tf.function(jit_compile=True)
        def compiled(grads):
            update(grads, trainable_variables)  # Not an argument: TensorFlow would take the variables for arrays.

        return compiled(list(grads))

    def finalize_variable_values(self, var_list):
        """Leaves the weights as they are, so that a further `fit` goes on from them."""


class AveragedWeights(keras.callbacks.Callback):
    """Validates the average instead of the weights of the last step.

    `keras.callbacks.SwapEMAWeights` does so too, but swaps by adding and subtracting, which rounds.
    """

    def on_test_begin(self, logs=None):
        self.swap()

    def on_test_end(self, logs=None):
        self.swap()

    def averages(self):
        """The averages by the paths of the weights that they are of."""
        return {variable.path: average for variable, average in self.beside()}

    def copy_weights(self):
        """Makes each average its weight."""
        for variable, average in self.beside():
            average.assign(keras.ops.convert_to_numpy(variable))

    def swap(self):
        """Exchanges the weights and their averages."""
        for variable, average in self.beside():
            kept = keras.ops.convert_to_numpy(variable).copy()
            variable.assign(average)
            average.assign(kept)

    def beside(self):
        """Each weight with its average."""
        optimizer = self.model.optimizer
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)  # float16 wraps it to scale the loss.
        return zip(self.model.trainable_variables, optimizer._model_variables_moving_average)
