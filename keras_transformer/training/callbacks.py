"""What happens around the training steps, one concern a class."""

import contextlib
import math
import signal
import threading
import time
import warnings
from functools import partial

import keras
import pandas as pd
import tensorflow as tf

from keras_transformer.runs.atomic_io import write_atomically
from keras_transformer.runs.run import METRICS
from keras_transformer.training.checkpoint import restore, save_checkpoint, snapshot, state

SCORE = "val_bits_per_char"
DIVERGED = "diverged"  # The column of metrics.csv that is 1 for an epoch that diverged, otherwise 0.


class Interrupted(Exception):
    """Training stopped at the user's wish, with everything saved."""


class PairsPerSecond(keras.callbacks.Callback):
    """Adds the speed to the progress bar and the metrics.

    Args:
        pairs_per_step: Pairs in a batch, on average.
    """

    def __init__(self, pairs_per_step):
        super().__init__()
        self.pairs_per_step = pairs_per_step

    def on_epoch_begin(self, epoch, logs=None):
        self.steps, self.start = 0, time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        self.speed = self.steps * self.pairs_per_step / (time.perf_counter() - self.start)
        logs["pairs/s"] = self.speed

    def on_epoch_end(self, epoch, logs=None):
        logs["pairs/s"] = self.speed


class TokenMeans(keras.callbacks.Callback):
    """Gives an epoch's losses as means over its tokens; those that Keras keeps are means over batches."""

    def on_epoch_end(self, epoch, logs=None):
        logs["loss"], logs["val_loss"] = math.log(logs["perplexity"]), math.log(logs["val_perplexity"])


class NarrowBar(keras.callbacks.Callback):
    """Leaves so much in the progress bar as fits a line of 80; a longer one would not be overwritten in place."""

    def on_train_batch_end(self, batch, logs=None):
        for name in ("accuracy", "perplexity"):
            logs.pop(name, None)


class BitsPerCharacter(keras.callbacks.Callback):
    """Adds the validation score that does not depend on the tokenizer, so that runs and programs compare.

    Args:
        validation: The `EncodedPairs` of the validation.
    """

    def __init__(self, validation):
        super().__init__()
        self.tokens_per_character = validation.tokens / validation.characters

    def on_epoch_end(self, epoch, logs=None):
        logs[SCORE] = self.score(logs["val_loss"])

    def score(self, loss):
        """Bits per character of a loss in nats per token."""
        return loss / math.log(2) * self.tokens_per_character


class TolerantTensorBoard(keras.callbacks.TensorBoard):
    """TensorBoard's logs. They may lack something, as after a full disk; training does not end for them."""

    def on_test_end(self, logs=None):
        with self.forgiving():
            super().on_test_end(logs)

    def on_epoch_end(self, epoch, logs=None):
        with self.forgiving():
            super().on_epoch_end(epoch, logs)

    def on_train_end(self, logs=None):
        with self.forgiving():
            super().on_train_end(logs)

    @contextlib.contextmanager
    def forgiving(self):
        """Makes a warning of what TensorFlow raises when it cannot write."""
        try:
            yield
        except tf.errors.OpError:
            warnings.warn(f"{self.log_dir}: some of TensorBoard's logs could not be written", stacklevel=3)


class RunCheckpoint(keras.callbacks.Callback):
    """Keeps the run folder: best weights, a row of metrics per epoch, and the state to go on from.

    Args:
        run: The `Run`.
        steps_per_epoch: Training steps in an epoch.
        step: Steps taken before.
        rows: Metrics of the epochs before, from the checkpoint.
        seconds: Time spent on them, from the checkpoint.
        tensors: Saved arrays, from the checkpoint; those of the metrics are put back once Keras has reset them.
        average: The `AveragedWeights`, whose weights are the ones to keep.
        writer: The `Writer` that all is handed to.
    """

    def __init__(self, run, steps_per_epoch, step, rows, seconds, tensors, average, writer):
        super().__init__()
        self.run, self.steps_per_epoch, self.average, self.writer = run, steps_per_epoch, average, writer
        self.step, self.rows = step, rows
        self.metrics = {name: value for name, value in tensors.items() if name.startswith("metrics")}
        self.begin = time.perf_counter() - seconds
        self.saved_at = time.perf_counter()

    def catch_up(self, model):
        """Brings weights and metrics in step with the checkpoint: a kill after it has left older ones, or none."""
        for callback in (self, self.average):
            callback.set_model(model)
        weights = [] if self.in_an_epoch() else self.weights()
        self.writer.write([*weights, self.metrics_file()])

    def on_epoch_begin(self, epoch, logs=None):
        self.completing = self.in_an_epoch()
        if self.completing:
            restore(self.model, self.metrics, "metrics")  # Keras has just reset them, in the middle of the epoch.

    def on_train_batch_end(self, batch, logs=None):
        self.step += 1
        minutes = self.run.config.checkpoint_minutes
        if minutes and self.in_an_epoch() and time.perf_counter() - self.saved_at >= 60 * minutes:
            self.save()

    def on_epoch_end(self, epoch, logs=None):
        self.rows.append(self.row(epoch, logs))
        # The checkpoint first, because all else can be made again from it.
        self.write([self.checkpoint(), *self.weights(), self.metrics_file()])
        if self.completing or out_of_patience(self.rows, self.run.config.patience, self.run.config.monitor):
            self.model.stop_training = True

    def row(self, epoch, logs):
        """The metrics of an epoch that has just ended."""
        scores = {name: float(value) for name, value in logs.items()}
        rate = learning_rate(self.model)
        return {"epoch": epoch + 1, "step": self.step, **scores, "learning_rate": rate, DIVERGED: 0}

    def in_an_epoch(self):
        """Whether steps were taken in an epoch that has not ended; its last step is followed by its validation."""
        return self.step % self.steps_per_epoch != 0

    def save(self):
        """Keeps the state to go on from."""
        self.write([self.checkpoint()])

    def write(self, steps):
        """Has files written, the checkpoint among them."""
        self.writer.write(steps)
        self.saved_at = time.perf_counter()

    def checkpoint(self):
        """What writes the state as it is now."""
        tensors = snapshot(state(self.model))
        return partial(save_checkpoint, self.run, tensors, self.step, list(self.rows), self.seconds())

    def weights(self):
        """What writes the weights of the epoch that has just ended, as the best and as one of those to keep."""
        if not self.rows or has_diverged(self.rows[-1]):
            return []
        best = best_row(self.rows, self.run.config.monitor) is self.rows[-1]
        places = [self.run.save_weights] * best + [self.run.save_epoch] * bool(self.run.config.keep_epochs)
        if not places:
            return []
        weights = snapshot(self.average.averages())
        return [partial(save, weights, self.rows[-1]) for save in places]

    def metrics_file(self):
        """What writes `metrics.csv` anew, so that it never has a gap or a repeated row."""
        return partial(write_metrics, self.run.path / METRICS, list(self.rows))

    def seconds(self):
        """Time spent on this training, earlier calls included."""
        return time.perf_counter() - self.begin


def learning_rate(model):
    """The learning rate of a compiled model's next step."""
    return float(keras.ops.convert_to_numpy(model.optimizer.learning_rate))


def write_metrics(path, rows):
    """Writes the metrics of the epochs, if any has ended."""
    if not rows:
        return
    try:
        write_atomically(path, pd.DataFrame(rows).to_csv(index=False, na_rep="nan").encode("utf-8"))
    except PermissionError as error:  # Open in a spreadsheet under Windows; the checkpoint holds the rows too.
        warnings.warn(f"{path.name} is written later: {error.strerror}", stacklevel=2)


class StopOnInterrupt(keras.callbacks.Callback):
    """Turns Ctrl-C into a stop between two steps, with the state saved; a second Ctrl-C stops at once.

    Args:
        keeper: The `RunCheckpoint` that saves the state.
    """

    def __init__(self, keeper):
        super().__init__()
        self.keeper, self.wanted = keeper, False

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            self.previous = signal.signal(signal.SIGINT, self.on_signal)
        return self

    def __exit__(self, *_):
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self.previous)

    def on_signal(self, *_):
        """Notes the wish."""
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        print("\nStopping after this step … (Ctrl-C again stops at once, without saving)", flush=True)

    def on_train_batch_end(self, batch, logs=None):
        if self.wanted and self.keeper.in_an_epoch():
            self.keeper.save()
            raise Interrupted

    def on_epoch_end(self, epoch, logs=None):
        if self.wanted:
            raise Interrupted  # The keeper, called before, has saved the epoch with its validation.


def has_diverged(row):
    """Whether the epoch of a row of metrics diverged."""
    return row.get(DIVERGED) == 1


def best_row(rows, monitor):
    """The row that is best in that column; None if there is none that has not diverged."""
    return next(iter(ranked(rows, monitor)), None)


def ranked(rows, monitor):
    """The rows that have not diverged, best first: by the highest accuracy, or the lowest of the other columns.

    Of equals the earliest comes first; but where training itself has reached the same accuracy, the latest: what is
    kept is a moving average of the weights, which is still far behind when training first makes no more mistakes.
    """
    good = [row for row in rows if not has_diverged(row)]
    if monitor == "accuracy":
        good.reverse()
    return sorted(good, key=lambda row: row[monitor], reverse=monitor.endswith("accuracy"))


def out_of_patience(rows, patience, monitor):
    """Whether the last `patience` epochs, all after the last divergence, brought nothing better."""
    if not (patience and rows):
        return False
    best = best_row(rows, monitor)
    begin = max(row["epoch"] for row in rows if row is best or has_diverged(row))
    return rows[-1]["epoch"] - begin >= patience
