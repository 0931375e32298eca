"""The learning rate: the paper's (section 5.3), and others with its linear warm-up.

All count updates from 0, where the rate is 0: the very first update changes nothing.
"""

import keras
from keras import ops

from keras_transformer.errors import InputError


@keras.saving.register_keras_serializable(package="keras_transformer")
class CustomSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """lrate = d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5) (section 5.3, equation 3).

    It rises linearly for `warmup_steps` steps, then falls with the inverse square root of the step.

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


@keras.saving.register_keras_serializable(package="keras_transformer")
class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """Linearly up to `learning_rate`, where it stays.

    Args:
        learning_rate: The rate from `warmup_steps` on.
        warmup_steps: Steps of the rise.
    """

    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        """The learning rate, float32, at a step or at each of several."""
        return self.learning_rate * self.shape(ops.cast(step, "float32") / float(self.warmup_steps))

    def shape(self, progress):
        """The share of the highest rate; `progress` is 1 at the end of the warm-up."""
        return ops.minimum(progress, 1.0)

    def get_config(self):
        return {"learning_rate": self.learning_rate, "warmup_steps": self.warmup_steps}


@keras.saving.register_keras_serializable(package="keras_transformer")
class InverseSquareRoot(WarmUp):
    """Linearly up to `learning_rate`, then down with step^-0.5: the paper's course at a height of one's own."""

    def shape(self, progress):
        return ops.minimum(progress, ops.rsqrt(progress))


@keras.saving.register_keras_serializable(package="keras_transformer")
class PerUpdate(keras.optimizers.schedules.LearningRateSchedule):
    """A schedule that counts updates where Keras counts batches, as its optimizers do while they accumulate gradients.

    Args:
        schedule: The schedule of updates.
        batches: Batches in an update.
    """

    def __init__(self, schedule, batches):
        super().__init__()
        self.schedule = schedule
        self.batches = batches

    def __call__(self, step):
        """The learning rate, float32, at a batch or at each of several."""
        return self.schedule(ops.floor_divide(step, self.batches))

    def get_config(self):
        return {"schedule": keras.optimizers.schedules.serialize(self.schedule), "batches": self.batches}

    @classmethod
    def from_config(cls, config):
        return cls(keras.optimizers.schedules.deserialize(config["schedule"]), config["batches"])


@keras.saving.register_keras_serializable(package="keras_transformer")
class Scaled(keras.optimizers.schedules.LearningRateSchedule):
    """A schedule multiplied with a factor.

    Args:
        schedule: The schedule.
        factor: The factor.
    """

    def __init__(self, schedule, factor):
        super().__init__()
        self.schedule = schedule
        self.factor = factor

    def __call__(self, step):
        """The learning rate, float32, at a step or at each of several."""
        return self.schedule(step) * self.factor

    def get_config(self):
        return {"schedule": keras.optimizers.schedules.serialize(self.schedule), "factor": self.factor}

    @classmethod
    def from_config(cls, config):
        return cls(keras.optimizers.schedules.deserialize(config["schedule"]), config["factor"])


def make_schedule(config, batches, factor=1.0):
    """The learning rate that a `Config` asks for.

    Args:
        config: The `Config`.
        batches: Batches of the whole training, at whose end the cosine is 0.
        factor: What the learning rate is multiplied with.

    Returns:
        A `LearningRateSchedule` of Keras' count, which is one of batches.

    Raises:
        InputError: If a cosine would end before its warm-up does.
    """
    schedule = schedule_of_updates(config, batches // config.accumulate)
    schedule = schedule if config.accumulate == 1 else PerUpdate(schedule, config.accumulate)
    return schedule if factor == 1 else Scaled(schedule, factor)


def schedule_of_updates(config, updates):
    """`make_schedule` for a training of that many updates, counted one by one."""
    peak, rise = config.learning_rate, config.warmup_steps
    if config.schedule == "paper":
        return CustomSchedule(config.d_model, rise)
    if config.schedule == "inverse_sqrt":
        return InverseSquareRoot(peak, rise)
    if config.schedule == "constant":
        return WarmUp(peak, rise)
    if updates <= rise:
        raise InputError(f"warmup_steps {rise} must be below the {updates} updates of the training for a cosine")
    return keras.optimizers.schedules.CosineDecay(0.0, updates - rise, warmup_target=peak, warmup_steps=rise)
