"""Progress of a training: a table, on a terminal with a bar; in a notebook, Keras' own bar."""

import datetime
import math
import os
import sys
import time

import keras
from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.printable import printable
from keras_transformer.runs.history import best_row
from keras_transformer.training.distributed.cluster import process_number

SILENT, BAR = 0, 1  # Keras' levels of verbosity.
GAP = 2  # Columns between two cells.
BEST, VALIDATION = 6, 20  # Widths of two columns on a wide terminal. The progress bar is in the validation column.
OPTIONAL_COLUMNS = "pairs/s", "val accuracy", "accuracy", "loss"  # Left out on a narrow terminal, in this order.
REFRESHES_PER_SECOND = 4


def is_terminal(stream):
    """Returns whether a stream is a terminal that can overwrite a line, and this process is the one that prints."""
    if process_number() or "ipykernel" in sys.modules or os.environ.get("TERM") == "dumb":
        return False
    return hasattr(stream, "isatty") and stream.isatty()


def verbosity():
    """Returns Keras' verbosity: a bar in a notebook, silent beside `EpochTable` and in all processes but the first."""
    return BAR if "ipykernel" in sys.modules and not process_number() else SILENT


def say(line):
    """Prints a line; on a terminal it is wrapped between words."""
    if is_terminal(sys.stdout):
        console().print(encodable(line), markup=False, highlight=False)
    else:
        print(encodable(line), flush=True)


def interrupt(line):
    """Prints a line during an epoch, below Keras' unfinished bar if there is one. Only the first process prints."""
    if not process_number():
        print(encodable(f"\n{line}" if verbosity() == BAR else line), flush=True)


def show_samples(samples):
    """Prints questions and their answers.

    Args:
        samples: A list of pairs (question, answer).
    """
    if not is_terminal(sys.stdout):
        for question, answer in samples:
            print(encodable(f"{question}\n  -> {answer}"))
        return
    shown = console()
    shown.print(Text(_("Sample answers"), "bold"))
    for question, answer in samples:
        shown.print(Text(encodable(question), "dim"))
        shown.print(Padding(Text(encodable(answer)), (0, 0, 0, GAP)))


def console():
    """Returns a rich `Console` on the current standard output."""
    return Console(file=sys.stdout)


def encodable(text):
    """Returns a text with the characters escaped that the standard output cannot encode, or that would control it."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return printable(text).encode(encoding, "backslashreplace").decode(encoding)


class EpochTable(keras.callbacks.Callback):
    """Prints a table with a line per epoch, and on a terminal below it the current epoch with a progress bar.

    It is a context manager, which restores the terminal at the end of the training, also after an error.

    Args:
        run_checkpoint: The `RunCheckpoint`, which holds steps and metrics. It must be called before this callback.
        config: The `Config`.
    """

    def __init__(self, run_checkpoint, config):
        super().__init__()
        self.run_checkpoint, self.config = run_checkpoint, config
        self.console = console()
        self.columns = fitting_columns(config, self.console.width)
        self.star = "★" if encodable("★") == "★" else "*"
        self.logs, self.validating, self.timer = {}, False, EpochTimer()
        self.live = Live(
            get_renderable=self.current, console=self.console, refresh_per_second=REFRESHES_PER_SECOND, transient=True
        )
        self.has_bar = is_terminal(sys.stdout)

    def __enter__(self):
        header = {name: _(name) for name in self.columns}
        header["best"] = f"{self.star} {header['best']}"
        self.console.print(self.line(header, "bold"))
        if self.has_bar:
            self.live.start()
        return self

    def __exit__(self, *_):
        if self.has_bar:
            self.live.stop()

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch, self.logs, self.validating = epoch + 1, {}, False

    def on_train_batch_end(self, batch, logs=None):
        self.timer.step(self.steps_done())
        # Keras' own loss includes label smoothing, unlike the one shown at the end of the epoch.
        self.logs = {"loss": math.log(logs["perplexity"]), "pairs/s": logs["pairs/s"]}

    def on_test_begin(self, logs=None):
        self.validating = True

    def on_epoch_end(self, epoch, logs=None):
        self.timer.epoch()
        rows = self.run_checkpoint.rows
        self.logs = {}
        cells = {**self.numbers(rows[-1]), "left": self.time_left(0)}
        cells["best"] = self.star if best_row(rows, self.config.monitor) is rows[-1] else ""
        self.console.print(self.line(cells))

    def steps_done(self):
        """Returns the number of steps taken within the epoch."""
        return (self.run_checkpoint.step - 1) % self.run_checkpoint.steps_per_epoch + 1

    def current(self):
        """Returns the line of the current epoch, with a bar in place of the validation score."""
        if not self.logs:
            return Text("")
        steps, all_steps = self.steps_done(), self.run_checkpoint.steps_per_epoch
        bar = ProgressBar(all_steps, steps, width=self.columns["validation"])
        numbers = {**self.numbers(self.logs), "validation": Text(_("validating"), "dim") if self.validating else bar}
        return self.line({**numbers, "left": self.time_left(all_steps - steps)})

    def numbers(self, row):
        """Returns the cells of the metrics in a row."""
        cells = {"epoch": f"{self.epoch}/{self.config.epochs}"}
        cells |= {name: f"{row[key]:.3f}" for name, key in SCORES.items() if key in row}
        return cells | {"pairs/s": f"{row['pairs/s']:,.0f}"}

    def time_left(self, steps):
        """Returns the estimated time of `steps` and of the remaining epochs, as text; "" if unknown."""
        seconds = self.timer.left(steps, self.run_checkpoint.steps_per_epoch, self.config.epochs - self.epoch)
        return "" if seconds is None else str(datetime.timedelta(seconds=round(seconds)))

    def line(self, cells, style=""):
        """Returns a line of the table from cells by name."""
        grid = Table.grid(padding=(0, GAP, 0, 0))
        for name, width in self.columns.items():
            side = "left" if name == "best" else "right"
            grid.add_column(width=width, justify=side, no_wrap=True, overflow="crop", style=style)
        grid.add_row(*(cells.get(name, "") for name in self.columns))
        return grid


SCORES = {"loss": "loss", "validation": "val_loss", "accuracy": "accuracy", "val accuracy": "val_accuracy"}
"""Columns of the table, and of metrics.csv. The losses are in nats per token, as in the paper's perplexity."""

HEADINGS = (
    translatable("epoch"), translatable("loss"), translatable("validation"), translatable("accuracy"),
    translatable("val accuracy"), translatable("pairs/s"), translatable("left"), translatable("best"),
)  # fmt: skip
"""The names of all columns. Their headings are translated."""


def fitting_columns(config, width):
    """Returns the columns of the table, a dictionary from names to widths.

    A monitored accuracy has its own column. The other monitored metrics are best in the same epoch as a loss.

    Args:
        config: The `Config`.
        width: Number of columns of the terminal.
    """
    monitor = config.monitor.replace("_", " ")
    columns = {"epoch": max(5, len(f"{config.epochs}/{config.epochs}")), "loss": 6, "validation": len("validation")}
    columns |= {monitor: len(monitor)} if monitor.endswith("accuracy") else {}
    columns |= {"pairs/s": 8, "left": 8}
    columns = {name: max(least, cell_len(_(name))) for name, least in columns.items()} | {"best": 1}
    for name in OPTIONAL_COLUMNS:
        if table_width(columns) <= width:
            break
        columns.pop(name, None)
    for name, most in (("best", BEST), ("validation", VALIDATION)):
        columns[name] += max(0, min(most - columns[name], width - table_width(columns)))
    return columns


def table_width(columns):
    """Returns the width of columns with the gaps between them."""
    return sum(columns.values()) + GAP * (len(columns) - 1)


class EpochTimer:
    """Estimates the time left. The first step does not count, because it compiles the model."""

    def __init__(self, now=time.perf_counter):
        self.now, self.start, self.first, self.seconds_per_step, self.seconds_per_epoch = now, None, 0, None, None

    def step(self, done):
        """Records the end of a step of the current epoch; `done` is its number, starting from 1."""
        if self.start is None:
            self.start, self.first = self.now(), done
        elif done > self.first:
            self.seconds_per_step = (self.now() - self.start) / (done - self.first)

    def epoch(self):
        """Records the end of an epoch, including its validation."""
        now = self.now()
        if self.start is not None and not self.first:
            self.seconds_per_epoch = now - self.start
        self.start, self.first = now, 0

    def left(self, steps, steps_per_epoch, epochs):
        """Returns the estimated seconds for some steps and some whole epochs; None before the second step."""
        if self.seconds_per_step is None:
            return None
        seconds_per_epoch = self.seconds_per_epoch or self.seconds_per_step * steps_per_epoch
        return self.seconds_per_step * steps + seconds_per_epoch * epochs
