"""Divergence of a training: how it is detected, and how training restarts from the best weights."""

import math

import keras

from keras_transformer.config import MONITORS
from keras_transformer.errors import TrainingDiverged
from keras_transformer.language import translate as _
from keras_transformer.runs.history import DIVERGED, best_row, has_diverged
from keras_transformer.training.callbacks import learning_rate
from keras_transformer.training.distributed.cluster import wait_for_all
from keras_transformer.training.fine_tuning import load_origin
from keras_transformer.training.initialization import initialize_as_tensorflow
from keras_transformer.training.schedule import make_schedule

MARGIN = math.log(1.25)
"""An epoch has diverged if both losses exceed their best by this many nats per token: a 25 % higher perplexity.

Dropout and the order of the pairs change the training loss of an epoch far less, even on a corpus of a few hundred
tokens. The training loss hardly ever increases: overfitting only increases the validation loss.
"""

FACTOR = 0.5  # Factor of the learning rate at each restart.
MOST_RESTARTS = 3  # Maximum number of consecutive restarts without a new best epoch.


class Divergence(Exception):
    """Ends `model.fit` because training has diverged.

    Args:
        symptom: Description of the divergence.
        row: The metrics of the epoch.
    """

    def __init__(self, symptom, row):
        super().__init__(symptom)
        self.row = {**row, DIVERGED: 1}


class DivergenceCheck(keras.callbacks.Callback):
    """Raises `Divergence` if a loss is not finite, and after an epoch whose losses have increased.

    Args:
        run_checkpoint: The `RunCheckpoint`. It is called after this callback, so a diverged epoch is never saved.
    """

    def __init__(self, run_checkpoint):
        super().__init__()
        self.run_checkpoint = run_checkpoint

    def on_train_batch_end(self, batch, logs=None):
        if math.isfinite(logs["loss"]):
            return
        epoch, step = self.run_checkpoint.step // self.run_checkpoint.steps_per_epoch + 1, self.run_checkpoint.step + 1
        missing = dict.fromkeys((*MONITORS, "pairs/s"), math.nan)
        row = {"epoch": epoch, "step": epoch * self.run_checkpoint.steps_per_epoch, **missing}
        self.run_checkpoint.step = step
        symptom = _("loss {loss} at step {step}", loss=logs["loss"], step=step)
        raise Divergence(symptom, {**row, "learning_rate": learning_rate(self.model)})

    def on_epoch_end(self, epoch, logs=None):
        row = self.run_checkpoint.row(epoch, logs)
        if symptom := divergence_of(row, self.run_checkpoint.rows, self.run_checkpoint.run.config.monitor):
            raise Divergence(symptom, row)


def divergence_of(row, earlier, monitor):
    """Returns a description of how an epoch diverged, or None if it did not.

    An epoch has diverged if a loss is not finite. It has also diverged if both its training and its validation loss
    exceed their best values so far by more than `MARGIN`, unless its monitored metric is the best so far.

    Args:
        row: The metrics of the epoch.
        earlier: The metrics of the previous epochs.
        monitor: The column that selects the best epoch.
    """
    if not math.isfinite(row["loss"]):
        return _("loss {loss}", loss=row["loss"])
    if not math.isfinite(row["val_loss"]):
        return _("validation loss {loss}", loss=row["val_loss"])
    good = [other for other in earlier if not has_diverged(other)]
    if not good or best_row([*good, row], monitor) is row:
        return None
    best = {name: min(other[name] for other in good) for name in ("loss", "val_loss")}
    if any(row[name] <= best[name] + MARGIN for name in best):
        return None
    return _("validation loss {loss:.2f}, best {best:.2f}", loss=row["val_loss"], best=best["val_loss"])


def learning_rate_factor(rows):
    """Returns the factor of the learning rate after the epochs with these rows of metrics."""
    return FACTOR ** sum(map(has_diverged, rows))


def restart(model, run_checkpoint, divergence):
    """Restarts a training from its best weights with half the learning rate, at the end of the diverged epoch.

    If no epoch was saved yet, it restarts from the initial weights. The optimizer's moments are reset to zero, and the
    moving averages to the weights. The remaining steps of the diverged epoch are skipped.

    Args:
        model: The compiled model, after `fit`.
        run_checkpoint: The `RunCheckpoint`.
        divergence: The `Divergence` that ended `fit`.

    Returns:
        A one-line message.

    Raises:
        TrainingDiverged: If this is the fourth divergence without a new best epoch, or if no step remains and no epoch
            was saved.
    """
    run, rows, row = run_checkpoint.run, [*run_checkpoint.rows, divergence.row], divergence.row
    best = best_row(rows, run.config.monitor)
    check_restarts(run, rows, best, run_checkpoint.steps_per_epoch, divergence)
    run_checkpoint.writer.wait()
    wait_for_all("the best weights")
    if best:
        run.load_weights(model)
    else:
        load_initial(run, model)
    batches = run.config.epochs * run_checkpoint.steps_per_epoch
    reset_optimizer(
        model, make_schedule(run.config, batches, learning_rate_factor(rows)), row["step"] - run_checkpoint.step
    )
    run_checkpoint.average.copy_weights()
    model.make_train_function(force=True)  # The old function contains the old learning rate.
    run_checkpoint.step, run_checkpoint.rows[:] = row["step"], rows
    run_checkpoint.write([run_checkpoint.checkpoint(), run_checkpoint.metrics_file()])
    if not best:
        return _(
            "Epoch {epoch} diverged ({symptom}): back to the initial weights with half the learning rate.",
            epoch=row["epoch"],
            symptom=divergence,
        )
    return _(
        "Epoch {epoch} diverged ({symptom}): back to the weights of epoch {best} with half the learning rate.",
        epoch=row["epoch"],
        symptom=divergence,
        best=best["epoch"],
    )


def check_restarts(run, rows, best, steps_per_epoch, divergence):
    """Raises `TrainingDiverged` if the restarts are used up, or if no step remains and no epoch was saved."""
    since = best["epoch"] if best else 0
    restarts = sum(has_diverged(row) for row in rows if row["epoch"] > since) - 1
    ended = rows[-1]["step"] >= run.config.epochs * steps_per_epoch
    if restarts < MOST_RESTARTS and (best or not ended):
        return
    what = _("epoch {epoch} diverged ({symptom})", epoch=rows[-1]["epoch"], symptom=divergence)
    if restarts:
        what = _("{what}, after {restarts} restarts without a better epoch", what=what, restarts=restarts)
    kept = _("No epoch was good enough to be kept.")
    if best:
        kept = _("The weights of epoch {epoch} are kept.", epoch=best["epoch"])
    advice = _("Try a lower --learning-rate in a new run folder")
    if run.config.schedule == "paper":
        advice = _("Try more --warmup-steps in a new run folder")
    raise TrainingDiverged(f"{what}. {kept} {advice}")


def load_initial(run, model):
    """Puts the weights that the training began with into a model."""
    if run.origin:
        load_origin(run, model)
        return
    keras.utils.set_random_seed(run.config.seed)
    initial = run.build_model()
    initialize_as_tensorflow(initial)
    for variable, value in zip(model.weights, initial.weights, strict=True):
        variable.assign(keras.ops.convert_to_numpy(value))


def reset_optimizer(model, schedule, skipped):
    """Resets the moments, accumulated gradients and averages of a model's `AveragingAdam`, but not its step count.

    Args:
        model: The compiled model.
        schedule: The new learning rate schedule.
        skipped: Number of skipped steps to add to the step count.
    """
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)  # float16 wraps it to scale the loss.
    for variable in optimizer.variables:
        if variable.name == "iteration":  # The step count. `optimizer.iterations` is divided by accumulation steps.
            variable.assign(variable + skipped)
        else:
            variable.assign(keras.ops.zeros(variable.shape, variable.dtype))
    optimizer.learning_rate = schedule
