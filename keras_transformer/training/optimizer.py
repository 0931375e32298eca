"""The optimizer: Adam as the paper has it (section 5.3), averaging as it goes."""

from keras_transformer.training.ema import MOMENTUM, AveragingAdam
from keras_transformer.training.schedule import make_schedule


def make_optimizer(config, steps_per_epoch, factor=1.0):
    """The optimizer that a `Config` asks for.

    Args:
        config: The `Config`.
        steps_per_epoch: Batches in an epoch.
        factor: What the learning rate is multiplied with.

    Returns:
        An `AveragingAdam`, not built yet.

    Raises:
        InputError: If a cosine would end before its warm-up does.
    """
    return AveragingAdam(
        make_schedule(config, config.epochs * steps_per_epoch, factor),
        beta_1=0.9,
        beta_2=0.98,
        epsilon=1e-9,
        global_clipnorm=config.clip_norm or None,
        gradient_accumulation_steps=config.accumulate if config.accumulate > 1 else None,
        use_ema=True,
        # Keras averages after every batch, also after those that only accumulate. This way the average reaches as many
        # updates back as without.
        ema_momentum=MOMENTUM ** (1 / config.accumulate),
    )
