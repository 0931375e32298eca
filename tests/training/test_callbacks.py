import pytest
import tensorflow as tf

from keras_transformer.training.callbacks import NarrowBar, TolerantTensorBoard, best_row, out_of_patience

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
    assert not out_of_patience(rows(3.0, 2.0, 2.5), patience=2, monitor=SCORE)
    assert out_of_patience(rows(3.0, 2.0, 2.5, 2.4), patience=2, monitor=SCORE)
    assert not out_of_patience(rows(3.0, 2.0, 2.5, 2.4), patience=0, monitor=SCORE)
    assert not out_of_patience([], patience=1, monitor=SCORE)


def test_an_epoch_that_diverged_is_never_best_and_starts_patience_anew():
    some = rows(3.0, 2.0, 1.0, 2.5)
    some[2]["diverged"] = 1
    assert best_row(some, SCORE)["epoch"] == 2
    assert best_row(some[2:3], SCORE) is None
    assert not out_of_patience(some, patience=2, monitor=SCORE)
    assert out_of_patience([*some, {"epoch": 5, SCORE: 2.5}], patience=2, monitor=SCORE)


def test_the_bar_keeps_what_fits_a_line():
    logs = {"loss": 1.0, "accuracy": 0.5, "perplexity": 2.7, "pairs/s": 300.0}
    NarrowBar().on_train_batch_end(0, logs)
    assert logs == {"loss": 1.0, "pairs/s": 300.0}


def test_training_does_not_end_for_the_logs_of_tensorboard(tmp_path):
    message = "logs: some of TensorBoard's logs could not be written"
    with pytest.warns(UserWarning, match=message), TolerantTensorBoard(tmp_path / "logs").forgiving():
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")
