"""Learning rate schedules: the paper's (section 5.3), and others with the same linear warm-up.

All schedules count updates from 0, where the rate is 0: the first update changes nothing.
"""

from typing import Any

import keras
from keras import ops

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.layers import Tensor


@keras.saving.register_keras_serializable(package="keras_transformer")
class CustomSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """The paper's schedule: d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5) (section 5.3, equation 3).

    The rate increases linearly for `warmup_steps` steps, then decreases with the inverse square root of the step.

    Args:
        d_model: Width of the model.
        warmup_steps: Number of warm-up steps.

    Example:
        >>> schedule = CustomSchedule(d_model=512, warmup_steps=4000)
        >>> [f"{float(schedule(step)):.1e}" for step in (1, 4000, 16000)]
        ['1.7e-07', '7.0e-04', '3.5e-04']
    """

    def __init__(self, d_model: int, warmup_steps: int = 4000):
        super().__init__()
        self.d_model = d_model
        self.warmup_steps = warmup_steps

    def __call__(self, step: Tensor) -> Tensor:
        """Returns the learning rate, float32, of a step or of an array of steps."""
        step = ops.cast(step, "float32")
        rise, fall = step * float(self.warmup_steps) ** -1.5, ops.rsqrt(step)
        return float(self.d_model) ** -0.5 * ops.minimum(rise, fall)

    def get_config(self) -> dict[str, Any]:
        return {"d_model": self.d_model, "warmup_steps": self.warmup_steps}


@keras.saving.register_keras_serializable(package="keras_transformer")
class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up to a constant learning rate.

    Args:
        learning_rate: The rate from `warmup_steps` on.
        warmup_steps: Number of warm-up steps.
    """

    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        """Returns the learning rate, float32, of a step or of an array of steps."""
        return self.learning_rate * self.shape(ops.cast(step, "float32") / float(self.warmup_steps))

    def shape(self, progress):
        """Returns the rate relative to the peak; `progress` is 1 at the end of the warm-up."""
        return ops.minimum(progress, 1.0)

    def get_config(self):
        return {"learning_rate": self.learning_rate, "warmup_steps": self.warmup_steps}


@keras.saving.register_keras_serializable(package="keras_transformer")
class InverseSquareRoot(WarmUp):
    """Linear warm-up to `learning_rate`, then decay with step^-0.5: the paper's curve with a chosen peak."""

    def shape(self, progress):
        return ops.minimum(progress, ops.rsqrt(progress))


@keras.saving.register_keras_serializable(package="keras_transformer")
class PerUpdate(keras.optimizers.schedules.LearningRateSchedule):
    """Adapts a schedule of updates to gradient accumulation, where Keras optimizers count batches.

    Args:
        schedule: The schedule of updates.
        batches: Number of batches per update.
    """

    def __init__(self, schedule, batches):
        super().__init__()
        self.schedule = schedule
        self.batches = batches

    def __call__(self, step):
        """Returns the learning rate, float32, of a batch number or of an array of them."""
        return self.schedule(ops.floor_divide(step, self.batches))

    def get_config(self):
        return {"schedule": keras.optimizers.schedules.serialize(self.schedule), "batches": self.batches}

    @classmethod
    def from_config(cls, config):
        return cls(keras.optimizers.schedules.deserialize(config["schedule"]), config["batches"])


@keras.saving.register_keras_serializable(package="keras_transformer")
class Scaled(keras.optimizers.schedules.LearningRateSchedule):
    """A schedule multiplied by a factor.

    Args:
        schedule: The schedule.
        factor: The factor.
    """

    def __init__(self, schedule, factor):
        super().__init__()
        self.schedule = schedule
        self.factor = factor

    def __call__(self, step):
        """Returns the learning rate, float32, of a step or of an array of steps."""
        return self.schedule(step) * self.factor

    def get_config(self):
        return {"schedule": keras.optimizers.schedules.serialize(self.schedule), "factor": self.factor}

    @classmethod
    def from_config(cls, config):
        return cls(keras.optimizers.schedules.deserialize(config["schedule"]), config["factor"])


def make_schedule(config, batches, factor=1.0):
    """Returns the learning rate schedule of a `Config`.

    Args:
        config: The `Config`.
        batches: Number of batches in the whole training; a cosine schedule reaches 0 after the last one.
        factor: Factor of the learning rate.

    Returns:
        A `LearningRateSchedule` that counts batches, as Keras does.

    Raises:
        InputError: If a cosine schedule would end before its warm-up, unless that is of a single step.
    """
    schedule = schedule_of_updates(config, batches // config.accumulate)
    schedule = schedule if config.accumulate == 1 else PerUpdate(schedule, config.accumulate)
    return schedule if factor == 1 else Scaled(schedule, factor)


def schedule_of_updates(config, updates):
    """Returns the schedule of a `Config` for the given number of updates, without accumulation or factor."""
    peak, rise = config.learning_rate, config.warmup_steps
    if config.schedule == "paper":
        return CustomSchedule(config.d_model, rise)
    if config.schedule == "inverse_sqrt":
        return InverseSquareRoot(peak, rise)
    if config.schedule == "constant":
        return WarmUp(peak, rise)
    if updates <= rise > 1:  # The shortest warm-up fits every training.
        raise InputError(
            _(
                "warmup_steps {rise} must be below the {updates} updates of the training for a cosine: lower "
                "--warmup-steps, or raise --epochs",
                rise=rise,
                updates=updates,
            )
        )
    fall = max(1, updates - rise)
    return keras.optimizers.schedules.CosineDecay(0.0, fall, warmup_target=peak, warmup_steps=rise)
