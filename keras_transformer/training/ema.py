"""Adam with an exponential moving average (EMA) of the weights.

The average is validated and saved, because it varies less than the weights of a single step. The paper averages its
last checkpoints (section 6.1); the EMA does so during training.
"""

import keras

from keras_transformer.compat import moving_averages

AVERAGED, SHARE = 100, 20  # The average reaches back over about 100 updates, at most a twentieth of the training.


def momentum(updates):
    """Returns the momentum of the EMA for the number of updates in the whole training.

    A short training needs a short average: a long one would still hold the weights of its beginning.
    """
    return 1 - 1 / max(1, min(AVERAGED, updates / SHARE))


@keras.saving.register_keras_serializable(package="keras_transformer")
class AveragingAdam(keras.optimizers.Adam):
    """Adam that keeps an EMA of the weights, but does not overwrite the weights with it at the end of `fit`.

    On TensorFlow the update is compiled with XLA, so that it passes over weights and moments once instead of once per
    operation, and TensorFlow's own Adam is one operation per weight instead of some twenty, which need seconds of
    tracing.
    """

    def apply(self, grads, trainable_variables=None):
        """Updates all weights."""
        update = super().apply
        if keras.backend.backend() != "tensorflow":
            return update(grads, trainable_variables)
        import tensorflow as tf

        @tf.function(jit_compile=True, autograph=False)
        def compiled(grads):
            update(grads, trainable_variables)  # A closure: TensorFlow would convert variables in arguments to tensors.

        return compiled(list(grads))

    def update_step(self, gradient, variable, learning_rate):
        """Updates a weight and its moments."""
        if keras.backend.backend() != "tensorflow" or self.amsgrad:
            super().update_step(gradient, variable, learning_rate)
            return
        import tensorflow as tf

        index = self._get_variable_index(variable)
        step = tf.cast(self.iterations + 1, variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=self.beta_1**step,
            beta2_power=self.beta_2**step,
            lr=tf.cast(learning_rate, variable.dtype),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=tf.cast(tf.convert_to_tensor(gradient), variable.dtype),
        )

    def _update_model_variables_moving_average(self, trainable_variables):
        """Averages the weights. Private in Keras, which computes the momentum anew for every weight.

        If Keras renames it, its own slower function is used.
        """
        momentum = keras.ops.where(keras.ops.equal(self.iterations, 0), 0.0, self.ema_momentum)
        for variable, average in zip(trainable_variables, moving_averages(self), strict=True):
            average.assign(momentum * average + (1 - momentum) * variable)

    def finalize_variable_values(self, var_list):
        """Leaves the weights unchanged, so that another `fit` continues from them."""


class AveragedWeights(keras.callbacks.Callback):
    """Validates the averaged weights instead of those of the last step.

    `keras.callbacks.SwapEMAWeights` does the same, but swaps by addition and subtraction, which causes rounding errors.
    """

    def set_model(self, model):
        super().set_model(model)
        self.program = None

    def on_test_begin(self, logs=None):
        self.swap()

    def on_test_end(self, logs=None):
        self.swap()

    def averages(self):
        """Returns the averages by the paths of their weights."""
        return {variable.path: average for variable, average in self.weights_and_averages()}

    def copy_weights(self):
        """Resets each average to the current weight."""
        for variable, average in self.weights_and_averages():
            average.assign(keras.ops.convert_to_numpy(variable))

    def swap(self):
        """Swaps the weights and their averages."""
        if self.program is None:
            self.program = swapping(list(self.weights_and_averages()))
        self.program()

    def weights_and_averages(self):
        """Returns pairs of each weight and its average."""
        optimizer = self.model.optimizer
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)  # float16 wraps it to scale the loss.
        return zip(self.model.trainable_variables, moving_averages(optimizer))


def swapping(pairs):
    """Returns a function that swaps the values of pairs of variables.

    On TensorFlow it is one program: one by one, the operations take longer than the validation of a small corpus.
    """

    def swap():
        for one, other in pairs:
            value = keras.ops.copy(one)
            one.assign(other)
            other.assign(value)

    if keras.backend.backend() != "tensorflow":
        return swap
    import tensorflow as tf

    return tf.function(swap, autograph=False)
