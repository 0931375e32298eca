"""The learning rate (section 5.3)."""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="keras_transformer")
class CustomSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """lrate = d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5) (section 5.3, equation 3).

    It rises linearly for `warmup_steps` steps, then falls with the inverse square root of the step. Keras counts steps
    from 0, where the rate is 0: the very first update changes nothing.

    Args:
        d_model: Width of the model.
        warmup_steps: Steps of the rise.
    """

    def __init__(self, d_model, warmup_steps=4000):
        super().__init__()
        self.d_model = d_model
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        """The learning rate, float32, at a step or at each of several."""
        step = ops.cast(step, "float32")
        rise, fall = step * float(self.warmup_steps) ** -1.5, ops.rsqrt(step)
        return float(self.d_model) ** -0.5 * ops.minimum(rise, fall)

    def get_config(self):
        return {"d_model": self.d_model, "warmup_steps": self.warmup_steps}
