"""Keras callbacks of the training loop."""

import contextlib
import math
import signal
import threading
import time
import warnings
from functools import partial

import keras
import numpy as np
import tensorflow as tf

from keras_transformer.language import translate as _
from keras_transformer.runs.checksums import write_recorded
from keras_transformer.runs.history import (
    DIVERGED,
    METRICS,
    SCORE,
    best_row,
    has_diverged,
    rows_text,
    stops_early,
)
from keras_transformer.training.checkpoint import restore, save_checkpoint, snapshot, state
from keras_transformer.training.progress import encodable


class Interrupted(Exception):
    """The user interrupted the training, and its state was saved."""


class EpochScores(keras.callbacks.Callback):
    """Computes the epoch scores that Keras lacks, and replaces those that Keras averages over batches.

    It adds to the logs, which later callbacks read: "loss" and "val_loss" in nats per token, "val_bits_per_char", which
    is comparable across tokenizers and programs, and the training speed "pairs/s", which the progress bar shows too.

    Args:
        pairs_per_step: Average number of pairs in a batch.
        validation: The `EncodedPairs` of the validation split.
    """

    def __init__(self, pairs_per_step, validation):
        super().__init__()
        self.pairs_per_step, self.validation = pairs_per_step, validation

    def on_epoch_begin(self, epoch, logs=None):
        self.steps, self.start = 0, time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        self.speed = self.steps * self.pairs_per_step / (time.perf_counter() - self.start)
        logs["pairs/s"] = self.speed

    def on_epoch_end(self, epoch, logs=None):
        logs["loss"], logs["val_loss"] = math.log(logs["perplexity"]), math.log(logs["val_perplexity"])
        logs["pairs/s"] = self.speed
        logs[SCORE] = bits_per_character(logs["val_loss"], self.validation)


def bits_per_character(loss, pairs):
    """Converts a loss in nats per token of `EncodedPairs` to bits per character of their answers."""
    return loss / math.log(2) * (pairs.tokens / pairs.characters)


class TolerantTensorBoard(keras.callbacks.TensorBoard):
    """TensorBoard callback that does not stop the training if its logs cannot be written, e.g. on a full disk."""

    def on_test_end(self, logs=None):
        with self.errors_as_warnings():
            super().on_test_end(logs)

    def on_epoch_end(self, epoch, logs=None):
        with self.errors_as_warnings():
            super().on_epoch_end(epoch, logs)

    def on_train_end(self, logs=None):
        with self.errors_as_warnings():
            super().on_train_end(logs)

    @contextlib.contextmanager
    def errors_as_warnings(self):
        """Turns TensorFlow's write errors into warnings."""
        try:
            yield
        except tf.errors.OpError:
            message = _("{folder}: some of TensorBoard's logs could not be written", folder=self.log_dir)
            warnings.warn(message, stacklevel=3)


class RunCheckpoint(keras.callbacks.Callback):
    """Writes the run folder: the best weights, the metrics of each epoch, and the checkpoint.

    Args:
        run: The `Run`.
        steps_per_epoch: Training steps in an epoch.
        step: Steps already taken.
        rows: Metrics of the previous epochs, from the checkpoint.
        seconds: Training time of the previous epochs, from the checkpoint.
        tensors: Arrays from the checkpoint. Those of the metrics are restored after Keras resets the metrics.
        average: The `AveragedWeights`, whose weights are saved.
        writer: The `Writer` of the files.
    """

    def __init__(self, run, steps_per_epoch, step, rows, seconds, tensors, average, writer):
        super().__init__()
        self.run, self.steps_per_epoch, self.average, self.writer = run, steps_per_epoch, average, writer
        self.step, self.rows = step, rows
        self.metrics = {name: value for name, value in tensors.items() if name.startswith("metrics")}
        self.begin = time.perf_counter() - seconds
        self.saved_at = time.perf_counter()

    def catch_up(self, model):
        """Rewrites weights and metrics from the checkpoint, in case the process was killed before writing them."""
        for callback in (self, self.average):
            callback.set_model(model)
        weights = [] if self.in_an_epoch() else self.weights()
        self.writer.write([*weights, self.metrics_file()])

    def on_epoch_begin(self, epoch, logs=None):
        self.completing = self.in_an_epoch()
        if self.completing:
            restore(self.model, self.metrics, "metrics")  # Keras has just reset them, although the epoch continues.

    def on_train_batch_end(self, batch, logs=None):
        self.step += 1
        minutes = self.run.config.checkpoint_minutes
        if minutes and self.in_an_epoch() and time.perf_counter() - self.saved_at >= 60 * minutes:
            self.save()

    def on_epoch_end(self, epoch, logs=None):
        self.rows.append(self.row(epoch, logs))
        # The checkpoint is written first, because all other files can be restored from it.
        self.write([self.checkpoint(), *self.weights(), self.metrics_file()])
        if self.completing or stops_early(self.rows, self.run.config.patience, self.run.config.monitor):
            self.model.stop_training = True

    def row(self, epoch, logs):
        """Returns the row of metrics of the epoch that has just ended."""
        scores = {name: float(value) for name, value in logs.items()}
        rate = learning_rate(self.model)
        return {"epoch": epoch + 1, "step": self.step, **scores, "learning_rate": rate, DIVERGED: 0}

    def in_an_epoch(self):
        """Returns whether the current step is within an epoch, before its last step (which validation follows)."""
        return self.step % self.steps_per_epoch != 0

    def save(self):
        """Saves a checkpoint, unless a weight is not finite: the next step detects that the training has diverged."""
        tensors = snapshot(state(self.model))
        if all(np.isfinite(value).all() for name, value in tensors.items() if name.startswith("variables")):
            self.write([self.checkpoint(tensors)])

    def write(self, steps):
        """Passes functions that write files to the writer, and notes the time of the checkpoint."""
        self.writer.write(steps)
        self.saved_at = time.perf_counter()

    def checkpoint(self, tensors=None):
        """Returns a function that writes a state of the model, by default the current one, as a checkpoint."""
        tensors = snapshot(state(self.model)) if tensors is None else tensors
        return partial(save_checkpoint, self.run, tensors, self.step, list(self.rows), self.seconds())

    def weights(self):
        """Returns functions that write the last epoch's weights: as the best ones, and as a kept epoch, if they are."""
        if not self.rows or has_diverged(self.rows[-1]):
            return []
        best = best_row(self.rows, self.run.config.monitor) is self.rows[-1]
        places = [self.run.save_weights] * best + [self.run.save_epoch] * bool(self.run.config.keep_epochs)
        if not places:
            return []
        weights = snapshot(self.average.averages())
        return [partial(save, weights, self.rows[-1]) for save in places]

    def metrics_file(self):
        """Returns a function that rewrites `metrics.csv` completely, so that it has no gaps or repeated rows."""
        return partial(write_metrics, self.run.path / METRICS, list(self.rows))

    def seconds(self):
        """Returns the training time in seconds, including earlier calls."""
        return time.perf_counter() - self.begin


def learning_rate(model):
    """Returns the learning rate of the next step of a compiled model."""
    return float(keras.ops.convert_to_numpy(model.optimizer.learning_rate))


def write_metrics(path, rows):
    """Writes the metrics of the finished epochs, if there are any."""
    if not rows:
        return
    try:
        write_recorded(path, rows_text(rows).encode("utf-8"))
    except PermissionError as error:  # Open in a spreadsheet on Windows. The checkpoint contains the rows as well.
        message = _("{file} cannot be written now, will retry: {reason}", file=path.name, reason=error.strerror)
        warnings.warn(message, stacklevel=2)


STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Ctrl-C, the termination of the job, and a closed terminal (which is no signal on Windows)."""


class StopOnInterrupt(keras.callbacks.Callback):
    """On Ctrl-C, SIGTERM or SIGHUP, saves a checkpoint after the current step and stops; a second one stops at once.

    Args:
        run_checkpoint: The `RunCheckpoint` that saves the state.
    """

    def __init__(self, run_checkpoint):
        super().__init__()
        self.run_checkpoint, self.requested = run_checkpoint, False

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            # What is ignored, as SIGHUP is under nohup, stays ignored, except Ctrl-C.
            numbers = [one for one in STOPPING if one == signal.SIGINT or signal.getsignal(one) != signal.SIG_IGN]
            self.previous = {number: signal.signal(number, self.on_signal) for number in numbers}
        return self

    def __exit__(self, *_):
        if threading.current_thread() is threading.main_thread():
            for number, handler in self.previous.items():
                signal.signal(number, handler)

    def on_signal(self, *signal_and_frame):
        """Handles a signal: requests a stop, or raises `KeyboardInterrupt` if one was requested before."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        line = _("Stopping after this step … (press Ctrl-C again to stop immediately without saving)")
        with contextlib.suppress(OSError):  # After SIGHUP, the terminal is gone.
            print(encodable(f"\n{line}"), flush=True)

    def on_train_batch_end(self, batch, logs=None):
        if self.requested and self.run_checkpoint.in_an_epoch():
            self.run_checkpoint.save()
            raise Interrupted

    def on_epoch_end(self, epoch, logs=None):
        if self.requested:
            raise Interrupted  # `RunCheckpoint`, which is called before, has saved the epoch with its validation.
