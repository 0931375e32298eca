import subprocess
import sys

import pytest

from keras_transformer.runs.history import best_row, best_scores, is_perfect, read_rows, rows_text, stops_early

SCORE = "val_bits_per_char"


def rows(*scores, monitor=SCORE):
    return [{"epoch": i + 1, monitor: score} for i, score in enumerate(scores)]


def test_the_best_row_is_the_earliest_of_equals():
    assert best_row(rows(3.0, 2.0, 2.5, 2.0), SCORE)["epoch"] == 2
    assert best_row([], SCORE) is None


@pytest.mark.parametrize(
    ("monitor", "epoch"), [("val_loss", 2), ("perplexity", 2), ("accuracy", 4), ("val_accuracy", 3)]
)
def test_accuracy_is_best_where_it_is_highest_and_the_others_where_lowest(monitor, epoch):
    assert best_row(rows(0.5, 0.25, 0.75, 0.75, monitor=monitor), monitor)["epoch"] == epoch


def test_of_equal_accuracies_in_training_the_latest_is_best():
    """The average of the weights, which is kept, follows them."""
    assert best_row(rows(0.9, 1.0, 1.0, 1.0, monitor="accuracy"), "accuracy")["epoch"] == 4
    assert best_row(rows(0.9, 1.0, 1.0, 0.9, monitor="accuracy"), "accuracy")["epoch"] == 3


def test_patience_counts_epochs_since_the_best():
    assert not stops_early(rows(3.0, 2.0, 2.5), patience=2, monitor=SCORE)
    assert stops_early(rows(3.0, 2.0, 2.5, 2.4), patience=2, monitor=SCORE)
    assert not stops_early(rows(3.0, 2.0, 2.5, 2.4), patience=0, monitor=SCORE)
    assert not stops_early([], patience=1, monitor=SCORE)


def test_an_epoch_that_diverged_is_never_best_and_starts_patience_anew():
    some = rows(3.0, 2.0, 1.0, 2.5)
    some[2]["diverged"] = 1
    assert best_row(some, SCORE)["epoch"] == 2
    assert best_row(some[2:3], SCORE) is None
    assert not stops_early(some, patience=2, monitor=SCORE)
    assert stops_early([*some, {"epoch": 5, SCORE: 2.5}], patience=2, monitor=SCORE)


def test_best_scores_are_those_of_validation_and_of_the_monitor():
    row = {"epoch": 3, "step": 30, "accuracy": 0.9, "loss": 1.0, "val_loss": 2.0}
    assert best_scores([row], "accuracy") == {"best_epoch": 3, "accuracy": 0.9, "val_loss": 2.0}
    assert best_scores([{**row, "diverged": 1}], "accuracy") == {"best_epoch": None}


def test_what_is_written_is_read_again(tmp_path):
    rows = [{"epoch": 1, "val_loss": 1e-7}, {"epoch": 2, "val_loss": 0.5, "diverged": 1}]
    (tmp_path / "metrics.csv").write_text(rows_text(rows), "utf-8")
    assert read_rows(tmp_path, "val_loss") == rows


def test_a_run_and_its_history_are_read_without_a_framework():
    code = """
import sys
from keras_transformer.runs import history
from keras_transformer.runs.run import Run
assert not {"tensorflow", "keras", "torch", "jax"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_is_better_than_every_token():
    losses = [0.5, 0.3, 0.1, 0.2, 0.15]
    some = [
        {"epoch": epoch, "val_accuracy": 1.0 if epoch > 1 else 0.5, "accuracy": 1.0, "val_loss": loss}
        for epoch, loss in enumerate(losses, 1)
    ]
    assert not stops_early(some[:4], patience=0, monitor="val_accuracy")
    assert stops_early(some, patience=0, monitor="val_accuracy")
    assert best_row(some, "val_accuracy")["epoch"] == 3  # The surest.
    assert stops_early(some, patience=0, monitor="accuracy")
    assert best_row(some, "accuracy")["epoch"] == 5  # Of training, the last: the average of the weights lags behind.
    assert not stops_early(some, patience=0, monitor="val_loss")
    assert not is_perfect({"val_accuracy": 0.9999999}, "val_accuracy")
