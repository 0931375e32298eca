"""The history of a training: the metrics of its epochs, and which of them is best. Needs no framework.

A row is a dictionary of numbers: "epoch" (from 1), "step", the scores by the names of Keras and of `EpochScores`,
"learning_rate" and "diverged".
"""

import csv
import io
import pathlib

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

METRICS = "metrics.csv"
SCORE = "val_bits_per_char"
PERFECT = 4  # Epochs that predict every token: the first still answers some new questions wrongly.
DIVERGED = "diverged"  # Column: 1 if the epoch diverged, else 0.


def read_rows(folder, monitor):
    """Returns the rows of a run's metrics.csv, one for each finished epoch.

    Raises:
        InputError: If the file is damaged, or lacks the column `monitor`.
    """
    path = pathlib.Path(folder) / METRICS
    if not path.is_file():
        return []
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]
    except (ValueError, TypeError, csv.Error) as error:
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error
    if any({"epoch", monitor} - row.keys() for row in rows):
        raise InputError(_("{path}: damaged: every row must have epoch and {monitor}", path=path, monitor=monitor))
    return rows


def rows_text(rows):
    """Returns the rows as the text of metrics.csv. A row that lacks a column has an empty cell there."""
    text = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def has_diverged(row):
    """Returns whether the epoch of a row diverged."""
    return row.get(DIVERGED) == 1


def best_row(rows, monitor):
    """Returns the best row by the monitored column, or None if all epochs diverged."""
    return next(iter(ranked(rows, monitor)), None)


def ranked(rows, monitor):
    """Returns the rows that have not diverged, best first: by the highest accuracy, or the lowest other metric.

    Ties are won by the earliest epoch, except for the training accuracy, where the latest epoch wins: the saved weights
    are a moving average, which still lags behind when the training accuracy first reaches its maximum. Of two epochs
    that predict every validation token, the one with the lower loss wins: it is surer.
    """
    good = [row for row in rows if not has_diverged(row)]
    if monitor == "val_accuracy":
        good.sort(key=lambda row: row.get("val_loss", 0.0) if is_perfect(row, monitor) else 0.0)
    if monitor == "accuracy":
        good.reverse()
    return sorted(good, key=lambda row: row[monitor], reverse=monitor.endswith("accuracy"))


def best_scores(rows, monitor):
    """Returns the number of the best epoch, "best_epoch" (None if there is none), and its validation scores."""
    best = best_row(rows, monitor)
    if best is None:
        return {"best_epoch": None}
    scores = {name: best[name] for name in best if name.startswith("val_") or name == monitor}
    return {"best_epoch": best["epoch"], **scores}


def is_perfect(row, monitor):
    """Returns whether every token was predicted, of the answers by whose accuracy the best epoch is selected.

    Args:
        row: A row, or a summary with the scores of the best one.
        monitor: The monitored column.
    """
    return monitor in ("accuracy", "val_accuracy") and row.get(monitor) == 1


def stops_early(rows, patience, monitor):
    """Returns whether training ends before its last epoch.

    It ends after `PERFECT` epochs that no other can better, and after `patience` epochs without an improvement, all
    after the last divergence.
    """
    if sum(is_perfect(row, monitor) for row in rows if not has_diverged(row)) >= PERFECT:
        return True
    if not (patience and rows):
        return False
    best = best_row(rows, monitor)
    begin = max(row["epoch"] for row in rows if row is best or has_diverged(row))
    return rows[-1]["epoch"] - begin >= patience
