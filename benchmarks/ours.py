"""Our program as users start it, by its command line, and what its run folder says."""

import csv
import pathlib
import sys

from benchmarks.programs import steady_speed

PROGRAM = (sys.executable, "-m", "keras_transformer")
NAME = "keras_transformer"
SCORE = "val_bits_per_char"


def train_command(corpus, run, preset, precision, *more):
    """The words that train a run.

    Args:
        corpus: The corpus file.
        run: The run folder, which must not exist.
        preset: Name of the preset.
        precision: "auto", "float32", "bfloat16" or "float16".
        *more: Further words.
    """
    return [*PROGRAM, "train", corpus, "--run", run, "--preset", preset, "--precision", precision, *more]


def read_metrics(run):
    """The rows of a run's metrics.csv as dictionaries of numbers; none while no epoch has ended."""
    path = pathlib.Path(run) / "metrics.csv"
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]


def speed(run):
    """A run's pairs per second, the first epoch left out."""
    return steady_speed([row["pairs/s"] for row in read_metrics(run)])


def train_seconds(rows, pairs):
    """Seconds that the training steps of some epochs took, validation and saving left out.

    Args:
        rows: Of `read_metrics`.
        pairs: Pairs in an epoch. Pairs too long to be trained on may be among them: the seconds are then overstated.
    """
    return sum(pairs / row["pairs/s"] for row in rows)
