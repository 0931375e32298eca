import json
import shutil

import keras
import numpy as np
import pandas as pd
import pytest

from keras_transformer import Config, InputError, Run, train
from keras_transformer.training import callbacks as training_callbacks

TINY = Config(
    vocab_size=400, num_layers=1, d_model=16, num_heads=2, dff=16, batch_size=32, epochs=1, patience=0,
    warmup_steps=50, max_length=16,
)  # fmt: skip


def corpus(word):
    return pd.DataFrame(
        {"question": [f"{word} {i}" for i in range(160)], "answer": [f"답 {i % 7}" for i in range(160)]}
    )


@pytest.fixture(scope="module")
def parent(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("parent") / "부모"
    train(corpus("질문"), run_dir, TINY)
    return run_dir


@pytest.fixture
def first_weights(monkeypatch):
    """The weights at the beginning of every `fit`."""
    seen = []

    def look(self, logs=None):
        seen.append([keras.ops.convert_to_numpy(weight).copy() for weight in self.model.weights])

    monkeypatch.setattr(training_callbacks.EpochScores, "on_train_begin", look)
    return seen


def test_it_starts_from_the_best_weights_with_the_tokenizer_and_notes_its_origin(parent, tmp_path, first_weights):
    train(corpus("ask"), tmp_path / "run", TINY.replace(epochs=2, dropout=0.2), from_run=parent)
    run, origin = Run(tmp_path / "run"), Run(parent)
    for ours, theirs in zip(first_weights[0], origin.load_model().weights):
        np.testing.assert_array_equal(ours, keras.ops.convert_to_numpy(theirs))
    assert run.tokenizer.model == origin.tokenizer.model
    assert run.origin == {"id": origin.id, "path": str(parent)}
    assert f'from = "{parent}"' in (run.path / "config.toml").read_text("utf-8")
    assert (run.config.epochs, run.config.dropout) == (2, 0.2)


def test_the_same_call_goes_on_with_or_without_an_epoch_done(parent, tmp_path, first_weights, monkeypatch):
    begin = training_callbacks.RunCheckpoint.on_epoch_begin
    monkeypatch.setattr(
        training_callbacks.RunCheckpoint, "on_epoch_begin", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):  # As if killed before anything was saved.
        train(corpus("ask"), tmp_path / "run", from_run=parent)
    monkeypatch.setattr(training_callbacks.RunCheckpoint, "on_epoch_begin", begin)
    train(corpus("ask"), tmp_path / "run", from_run=parent)
    for ours, theirs in zip(*first_weights):
        np.testing.assert_array_equal(ours, theirs)
    assert train(corpus("ask"), tmp_path / "run", TINY.replace(epochs=2), from_run=parent)["epochs"] == 2
    assert any((ours != theirs).any() for ours, theirs in zip(first_weights[0], first_weights[2]))


@pytest.mark.parametrize(("name", "theirs", "ours"), [("d_model", 16, 32), ("norm_first", False, True)])
def test_another_model_is_refused_before_anything_is_made(parent, tmp_path, name, theirs, ours):
    with pytest.raises(InputError, match=f"부모: has {name} {theirs}, not {ours}; fine-tuning cannot change {name}"):
        train(corpus("ask"), tmp_path / "run", TINY.replace(**{name: ours}), from_run=parent)
    assert not (tmp_path / "run").exists()


def test_a_parent_without_weights_is_refused_before_anything_is_made(parent, tmp_path):
    bare = shutil.copytree(parent, tmp_path / "bare")
    (bare / "weights.safetensors").unlink()
    with pytest.raises(InputError, match=r"weights\.safetensors: missing; no epoch has ended yet"):
        train(corpus("ask"), tmp_path / "run", from_run=bare)
    assert not (tmp_path / "run").exists()


def test_a_run_that_was_begun_otherwise_is_refused(parent, tmp_path):
    with pytest.raises(InputError, match="부모: was not started from another run"):
        train(corpus("질문"), parent, from_run=parent)
    child = shutil.copytree(parent, tmp_path / "child")
    about = json.loads((child / "config.json").read_text("utf-8"))
    (child / "config.json").write_text(json.dumps({**about, "from": {"id": "other", "path": "/other"}}))
    with pytest.raises(InputError, match=r"child: was started from /other, not .*부모"):
        train(corpus("질문"), child, from_run=parent)
