"""The optimizer: Adam with the paper's settings (section 5.3) and an exponential moving average of the weights."""

from keras_transformer.training.ema import AveragingAdam, momentum
from keras_transformer.training.schedule import make_schedule


def make_optimizer(config, steps_per_epoch, factor=1.0):
    """Creates the optimizer of a `Config`.

    Args:
        config: The `Config`.
        steps_per_epoch: Batches in an epoch.
        factor: Factor of the learning rate.

    Returns:
        An `AveragingAdam` that is not built yet.

    Raises:
        InputError: If a cosine schedule would end before its warm-up.
    """
    batches = config.epochs * steps_per_epoch
    return AveragingAdam(
        make_schedule(config, batches, factor),
        beta_1=0.9,
        beta_2=0.98,
        epsilon=1e-9,
        global_clipnorm=config.clip_norm or None,
        gradient_accumulation_steps=config.accumulate if config.accumulate > 1 else None,
        use_ema=True,
        # Keras averages after every batch, even if it only accumulates gradients. This momentum makes the average
        # reach back over as many updates as without accumulation.
        ema_momentum=momentum(batches // config.accumulate) ** (1 / config.accumulate),
    )
