"""Runs our program through its command line, and reads its run folder."""

import csv
import pathlib
import sys

from benchmarks.programs import steady_speed

PROGRAM = (sys.executable, "-m", "keras_transformer")
NAME = "keras_transformer"
SCORE = "val_bits_per_char"


def train_command(corpus, run, preset, precision, *more):
    """Returns the command line that trains a run, a list of words.

    Args:
        corpus: The corpus file.
        run: The run folder, which must not exist.
        preset: Name of the preset.
        precision: "auto", "float32", "bfloat16" or "float16".
        *more: Additional arguments.
    """
    return [*PROGRAM, "train", corpus, "--run", run, "--preset", preset, "--precision", precision, *more]


def read_metrics(run):
    """Returns the rows of a run's metrics.csv as dictionaries of numbers; empty before the end of the first epoch."""
    path = pathlib.Path(run) / "metrics.csv"
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]


def speed(run):
    """Returns the pairs per second of a run, excluding the first epoch."""
    return steady_speed([row["pairs/s"] for row in read_metrics(run)])


def train_seconds(rows, pairs):
    """Returns the seconds of the training steps of some epochs, without validation and saving.

    Args:
        rows: Rows returned by `read_metrics`.
        pairs: Number of pairs in an epoch. If it includes pairs too long for training, the result is overestimated.
    """
    return sum(pairs / row["pairs/s"] for row in rows)
