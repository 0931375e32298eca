import math
import os
import signal
import types

import keras
import numpy as np
import pandas as pd
import pytest

from keras_transformer import Config, CustomSchedule, Run, TrainingDiverged, train
from keras_transformer.runs.tensor_file import load_tensors
from keras_transformer.training import callbacks as training_callbacks
from keras_transformer.training.checkpoint import load_checkpoint
from keras_transformer.training.divergence import (
    DivergenceCheck,
    divergence_of,
    learning_rate_factor,
    reset_optimizer,
)
from keras_transformer.training.ema import AveragingAdam

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("weights_alone")]
TINY = Config(
    vocab_size=500, num_layers=1, d_model=16, num_heads=2, dff=16, batch_size=32, epochs=4, patience=0,
    warmup_steps=50, max_length=16, precision="float32",
)  # fmt: skip
STEPS = 3  # Of an epoch of these pairs.
HUGE = 20.0


@pytest.fixture(scope="module")
def pairs():
    questions = [f"질문 {i} {word}" for i in range(48) for word in ("하나", "two")]
    return pd.DataFrame({"question": questions, "answer": [f"대답 {i % 7}" for i in range(96)]})


def row(epoch, loss, val_loss, **others):
    return {"epoch": epoch, "loss": loss, "val_loss": val_loss, "val_bits_per_char": val_loss, **others}


def spoil(monkeypatch, steps, value):
    """Makes the output's bias uneven by some value after these steps, and its average, as far too large updates do."""
    original = training_callbacks.RunCheckpoint.on_train_batch_end

    def spoiling(self, batch, logs=None):
        original(self, batch, logs)
        if self.step in steps:
            bias = self.model.get_layer("outputs").bias
            for variable in (bias, self.average.averages()[bias.path]):
                variable.assign(np.linspace(-value, value, bias.shape[0]))

    monkeypatch.setattr(training_callbacks.RunCheckpoint, "on_train_batch_end", spoiling)


def watch(monkeypatch):
    """The weights, the moments and the averages at the beginning of every epoch."""
    seen = []

    def look(self, epoch, logs=None):
        weights = [keras.ops.convert_to_numpy(weight).copy() for weight in self.model.trainable_variables]
        moments = [v for v in self.model.optimizer.variables if "momentum" in v.path or "velocity" in v.path]
        averages = [
            keras.ops.convert_to_numpy(average).copy() for average in self.run_checkpoint.average.averages().values()
        ]
        seen.append((weights, [keras.ops.convert_to_numpy(moment).copy() for moment in moments], averages))

    monkeypatch.setattr(DivergenceCheck, "on_epoch_begin", look)
    return seen


def assert_all_equal(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_both_losses_far_above_their_best_are_a_divergence():
    earlier = [row(1, 2.0, 2.1), row(2, 1.0, 1.2), row(3, 0.9, 1.3)]
    how = divergence_of(row(4, 1.2, 1.5), earlier, "val_bits_per_char")
    assert how == "validation loss 1.50, best 1.20"
    assert divergence_of(row(4, 0.9, 9.0), earlier, "val_bits_per_char") is None  # Overfitting.
    assert divergence_of(row(4, 1.12, 1.5), earlier, "val_bits_per_char") is None  # Noise.
    assert divergence_of(row(4, 9.0, 1.2), earlier, "val_bits_per_char") is None
    assert divergence_of(row(1, 9.0, 9.0), [], "val_bits_per_char") is None


def test_a_loss_that_is_not_finite_is_a_divergence_from_the_first_epoch_on():
    assert divergence_of(row(1, 1.0, math.nan), [], "loss") == "validation loss nan"
    assert divergence_of(row(2, math.inf, 1.0), [row(1, 1.0, 1.0)], "loss") == "loss inf"


def test_losses_are_compared_with_those_of_epochs_that_have_not_diverged():
    earlier = [row(1, 1.0, 1.0), row(2, math.nan, math.nan, diverged=1), row(3, 0.1, 0.1, diverged=1)]
    assert divergence_of(row(4, 1.1, 1.1), earlier, "val_bits_per_char") is None
    assert learning_rate_factor(earlier) == 0.25
    assert learning_rate_factor([row(1, 1.0, 1.0)]) == 1  # Rows of a checkpoint from before.


def test_an_epoch_that_is_the_best_so_far_has_not_diverged():
    earlier = [row(1, 1.0, 1.0, val_accuracy=0.5)]
    assert divergence_of(row(2, 2.0, 2.0, val_accuracy=0.6), earlier, "val_accuracy") is None
    assert divergence_of(row(2, 2.0, 2.0, val_accuracy=0.4), earlier, "val_accuracy")


def test_a_diverged_epoch_is_followed_by_the_best_weights_and_half_the_learning_rate(
    pairs, tmp_path, monkeypatch, capsys
):
    spoil(monkeypatch, [STEPS + 1], HUGE)
    seen = watch(monkeypatch)
    summary = train(pairs, tmp_path / "run", TINY)
    run = Run(tmp_path / "run")
    rows = run.metrics()
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4]
    assert [row["diverged"] for row in rows] == [0, 1, 0, 0]
    assert summary["finished"] and summary["best_epoch"] == 4
    [line] = [line for line in capsys.readouterr().out.splitlines() if " diverged " in line]
    losses = rows[1]["val_loss"], rows[0]["val_loss"]
    assert line == (
        f"Epoch 2 diverged (validation loss {losses[0]:.2f}, best {losses[1]:.2f}): "
        "back to the weights of epoch 1 with half the learning rate."
    )
    schedule = CustomSchedule(TINY.d_model, TINY.warmup_steps)
    expected = [float(schedule(STEPS * epoch)) * factor for epoch, factor in zip((1, 2, 3, 4), (1, 1, 0.5, 0.5))]
    assert [row["learning_rate"] for row in rows] == pytest.approx(expected)
    weights, moments, averages = seen[2]
    assert_all_equal(weights, seen[1][2])  # The averages of epoch 1 are what was validated and kept.
    assert_all_equal(averages, weights)
    assert not any(moment.any() for moment in moments)
    assert rows[2]["val_loss"] < rows[0]["val_loss"]


def test_without_a_best_epoch_it_goes_back_to_the_initial_weights(pairs, tmp_path, monkeypatch, capsys):
    spoil(monkeypatch, [2], np.nan)
    seen = watch(monkeypatch)
    train(pairs, tmp_path / "run", TINY.replace(epochs=2))
    line = "Epoch 1 diverged (loss nan at step 3): back to the initial weights with half the learning rate."
    assert line in capsys.readouterr().out.splitlines()
    assert_all_equal(seen[1][0], seen[0][0])
    rows = Run(tmp_path / "run").metrics()
    assert [row["step"] for row in rows] == [STEPS, 2 * STEPS]
    assert math.isnan(rows[0]["loss"]) and math.isfinite(rows[1]["loss"])
    schedule = CustomSchedule(TINY.d_model, TINY.warmup_steps)
    assert rows[1]["learning_rate"] == pytest.approx(float(schedule(2 * STEPS)) / 2)


def test_a_validation_that_is_not_finite_keeps_nothing(pairs, tmp_path, monkeypatch):
    """The last update of an epoch spoils the weights: only the validation can tell."""
    original = training_callbacks.RunCheckpoint.on_train_batch_end

    def spoiling(self, batch, logs=None):
        original(self, batch, logs)
        if self.step == STEPS:
            bias = self.model.get_layer("outputs").bias
            self.average.averages()[bias.path].assign(np.full(bias.shape, np.nan))

    monkeypatch.setattr(training_callbacks.RunCheckpoint, "on_train_batch_end", spoiling)
    train(pairs, tmp_path / "run", TINY.replace(epochs=2, keep_epochs=2))
    assert load_tensors(tmp_path / "run/weights.safetensors", Run(tmp_path / "run").id)[1]["epoch"] == 2
    assert list(Run(tmp_path / "run").kept_epochs()) == [2]


def contents(run_dir):
    run, (tensors, step, rows, _) = Run(run_dir), load_checkpoint(Run(run_dir))
    rows = [{name: value for name, value in row.items() if name != "pairs/s"} for row in rows]
    return {**tensors, **run.best_weights()}, step, rows


@pytest.mark.slow  # Both are tested apart.
@pytest.mark.parametrize("at", [STEPS + 1, 2 * STEPS + 2])
@pytest.mark.parametrize("value", [HUGE, np.nan])
def test_interrupted_equals_uninterrupted_before_and_after_a_divergence(pairs, tmp_path, monkeypatch, value, at):
    config = TINY.replace(epochs=3)
    with monkeypatch.context() as patch:
        spoil(patch, [STEPS + 2], value)
        train(pairs, tmp_path / "whole", config)
    spoiled = training_callbacks.RunCheckpoint.on_train_batch_end
    with monkeypatch.context() as patch:
        spoil(patch, [STEPS + 2], value)
        spoiled = training_callbacks.RunCheckpoint.on_train_batch_end

        def interrupting(self, batch, logs=None):
            spoiled(self, batch, logs)
            if self.step == at:
                os.kill(os.getpid(), signal.SIGINT)

        patch.setattr(training_callbacks.RunCheckpoint, "on_train_batch_end", interrupting)
        assert not train(pairs, tmp_path / "parts", config)["finished"]
        patch.setattr(training_callbacks.RunCheckpoint, "on_train_batch_end", spoiled)
        assert train(pairs, tmp_path / "parts", config)["finished"]
    (ours, *facts), (theirs, *expected) = contents(tmp_path / "parts"), contents(tmp_path / "whole")
    np.testing.assert_equal(facts, expected)
    assert [row["diverged"] for row in expected[1]] == [0, 1, 0]
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name], tensor, err_msg=name)


@pytest.mark.slow  # Trains six epochs, twice.
def test_training_gives_up_after_three_restarts_in_a_row(pairs, tmp_path, monkeypatch, capsys):
    spoil(monkeypatch, range(STEPS + 1, 100), np.nan)
    with pytest.raises(
        TrainingDiverged,
        match=r"^epoch 5 diverged \(loss nan at step 14\), after 3 restarts without a better epoch\. "
        r"The weights of epoch 1 are kept\. Try more --warmup-steps in a new run folder$",
    ):
        train(pairs, tmp_path / "run", TINY.replace(epochs=9))
    assert capsys.readouterr().out.count("back to the weights of epoch 1") == 3
    assert load_tensors(tmp_path / "run/weights.safetensors", Run(tmp_path / "run").id)[1]["epoch"] == 1
    with pytest.raises(TrainingDiverged, match=r"^epoch 5 diverged"):
        train(pairs, tmp_path / "run", TINY.replace(epochs=9))


def test_a_training_whose_every_epoch_diverged_has_failed(pairs, tmp_path, monkeypatch):
    spoil(monkeypatch, range(1, 100), np.nan)
    config = TINY.replace(epochs=1, schedule="constant")
    with pytest.raises(TrainingDiverged, match=r"No epoch was good enough to be kept\. Try a lower --learning-rate"):
        train(pairs, tmp_path / "run", config)


@pytest.mark.parametrize("accumulate", [None, 2])
def test_a_reset_optimizer_only_keeps_its_step_count(accumulate):
    optimizer = AveragingAdam(CustomSchedule(16), use_ema=True, gradient_accumulation_steps=accumulate)
    optimizer.build([keras.Variable([1.0, 2.0])])
    for variable in optimizer.variables:
        variable.assign(keras.ops.full(variable.shape, 7, variable.dtype))
    reset_optimizer(types.SimpleNamespace(optimizer=optimizer), CustomSchedule(32), skipped=5)
    values = {variable.name: np.max(variable) for variable in optimizer.variables}
    assert values.pop("iteration") == 12
    assert len(values) >= 3
    assert not any(values.values())
    assert optimizer.iterations == 12 // (accumulate or 1)
