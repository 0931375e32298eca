from keras_transformer.training.callbacks import NarrowBar, best_row, out_of_patience


def rows(*scores):
    return [{"epoch": i + 1, "val_bits_per_char": score} for i, score in enumerate(scores)]


def test_the_best_row_is_the_earliest_of_equals():
    assert best_row(rows(3.0, 2.0, 2.5, 2.0))["epoch"] == 2
    assert best_row([]) is None


def test_patience_counts_epochs_since_the_best():
    assert not out_of_patience(rows(3.0, 2.0, 2.5), patience=2)
    assert out_of_patience(rows(3.0, 2.0, 2.5, 2.4), patience=2)
    assert not out_of_patience(rows(3.0, 2.0, 2.5, 2.4), patience=0)
    assert not out_of_patience([], patience=1)


def test_the_bar_keeps_what_fits_a_line():
    logs = {"loss": 1.0, "accuracy": 0.5, "perplexity": 2.7, "pairs/s": 300.0}
    NarrowBar().on_train_batch_end(0, logs)
    assert logs == {"loss": 1.0, "pairs/s": 300.0}
