import json
import shutil

import keras
import numpy as np
import pandas as pd
import pytest

from keras_transformer import Chatbot, Config, InputError, Run, Tokenizer, train
from keras_transformer.text.growth import grow, spellings
from keras_transformer.training import callbacks as training_callbacks
from keras_transformer.training.fine_tuning import grown_weights, inherited_tokenizers, load_origin

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("weights_alone")]
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
    (child / "checksums.json").unlink()
    with pytest.raises(InputError, match=r"child: was started from /other, not .*부모"):
        train(corpus("질문"), child, from_run=parent)


# Growing the vocabulary

REFUNDS = pd.DataFrame(
    {"question": [f"refund 환불 {i} 😀" for i in range(160)], "answer": [f"돌려드려요 {i % 7}!" for i in range(160)]}
)


@pytest.fixture(params=["shared", "tied", "separate", "separate and tied"])
def untrained_parent(request, tmp_path):
    """A run with random weights."""
    config = TINY.replace(tie_embeddings="tied" in request.param)
    pairs = corpus("질문")
    tokenizers = [Tokenizer.train(pairs[side], 300) for side in ("question", "answer")]
    if "separate" not in request.param:
        tokenizers = [Tokenizer.train([*pairs["question"], *pairs["answer"]], 300)]
    run = Run.create(tmp_path / "부모", config, tokenizers[0], {"name": "질문"}, target_tokenizer=tokenizers[-1])
    keras.utils.set_random_seed(0)
    weights = run.build_model().weights
    noise = np.random.default_rng(0)
    values = {weight.path: noise.normal(0, 0.5, weight.shape).astype("float32") for weight in weights}
    run.save_weights(values, {"epoch": 1})
    return run


@pytest.mark.variants(2)
def test_old_logits_stay_and_a_new_one_is_the_mean_of_those_that_spelled_it(untrained_parent, tmp_path, no_steps):
    parent = untrained_parent
    train(REFUNDS, tmp_path / "run", from_run=parent.path, settings={"grow_vocabulary": True})
    run, old = Run(tmp_path / "run"), parent.load_model()
    new = run.build_model()
    load_origin(run, new)
    sizes = [(one.tokenizer.vocab_size, one.target_tokenizer.vocab_size) for one in (parent, run)]
    assert sizes[0][0] < sizes[1][0] and sizes[0][1] < sizes[1][1]
    random = np.random.default_rng(0)
    batch = [random.integers(1, size, (3, 7)).astype("int32") for size in sizes[0]]
    before, after = (np.asarray(model(batch)) for model in (old, new))
    # A product with more columns may be summed in another order: the last bits depend on the processor.
    np.testing.assert_allclose(after[..., : sizes[0][1]], before, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(after.argmax(-1), before.argmax(-1))
    spelled = spellings(parent.target_tokenizer, run.target_tokenizer)
    means = np.stack([before[..., ids].mean(-1) for ids in spelled], -1)
    np.testing.assert_allclose(after[..., sizes[0][1] :], means, rtol=1e-4, atol=1e-4)
    name = "embedding/table" if "embedding/table" in parent.best_weights() else "source_embedding/table"
    [table] = [np.asarray(weight) for weight in new.weights if weight.path == name]
    ids = spellings(parent.tokenizer, run.tokenizer)[0]
    np.testing.assert_array_equal(table[sizes[0][0]], parent.best_weights()[name][ids].mean(0))


def test_before_its_training_a_grown_run_answers_as_its_parent(parent, tmp_path, no_steps):
    train(REFUNDS, tmp_path / "run", from_run=parent, settings={"grow_vocabulary": True})
    run = Run(tmp_path / "run")
    model = run.build_model()
    load_origin(run, model)
    bot = Chatbot(model, run.tokenizer, run.config.max_length)
    questions = ["질문 3", "질문 12", "답"]
    assert run.tokenizer.encode(questions) == Run(parent).tokenizer.encode(questions)
    answers, before = (list(zip(*(best for [best] in one.n_best(questions)))) for one in (bot, Chatbot.load(parent)))
    assert answers[0] == before[0]
    assert all(new < old for new, old in zip(answers[1], before[1]))  # New pieces have their share of probability.


@pytest.mark.slow  # As one that is not grown does.
def test_a_grown_training_that_is_interrupted_equals_one_that_is_not(parent, tmp_path, monkeypatch, capsys):
    settings = {"grow_vocabulary": True, "epochs": 2}
    train(REFUNDS, tmp_path / "whole", from_run=parent, settings=settings)
    whole = Run(tmp_path / "whole")
    assert "The vocabulary grows from" in capsys.readouterr().out
    assert not whole.tokenizer.unknown("refund 환불 😀 돌려드려요!")
    begin = training_callbacks.RunCheckpoint.on_epoch_begin
    for stop in (0, 1):  # Before anything is saved, and after the first epoch.
        monkeypatch.setattr(
            training_callbacks.RunCheckpoint,
            "on_epoch_begin",
            lambda self, epoch, logs=None, stop=stop: interrupt() if epoch == stop else begin(self, epoch, logs),
        )
        with pytest.raises(KeyboardInterrupt):
            train(REFUNDS, tmp_path / "run", from_run=parent, settings=settings)
    monkeypatch.setattr(training_callbacks.RunCheckpoint, "on_epoch_begin", begin)
    assert train(REFUNDS, tmp_path / "run")["finished"]  # The run folder says where it started and that it grew.
    run = Run(tmp_path / "run")
    assert run.tokenizer.model == whole.tokenizer.model != Run(parent).tokenizer.model
    ours, theirs = run.best_weights(), whole.best_weights()
    assert ours.keys() == theirs.keys()
    for path, value in theirs.items():
        np.testing.assert_array_equal(ours[path], value, err_msg=path)


def interrupt():
    raise KeyboardInterrupt


def test_a_run_grows_once_and_says_what_it_lacks(parent, tmp_path, no_steps, capsys):
    train(REFUNDS, tmp_path / "plain", from_run=parent, settings={"max_length": 64})
    out = capsys.readouterr().out
    assert "부모: its vocabulary lacks 14 characters or words of the corpus (!, d, e, f, n, …); --grow-" in out
    train(REFUNDS, tmp_path / "grown", from_run=parent, settings={"grow_vocabulary": True})
    assert Run(tmp_path / "grown").config.grow_vocabulary
    assert "grow_vocabulary = true" in (tmp_path / "grown/config.toml").read_text("utf-8")


@pytest.mark.variants(2)
def test_a_child_of_a_grown_run_does_not_grow_unasked(untrained_parent, tmp_path, no_steps):
    run = Run.create(
        tmp_path / "grown", untrained_parent.config.replace(grow_vocabulary=True), untrained_parent.tokenizer,
        {"name": "질문"}, target_tokenizer=untrained_parent.target_tokenizer,
    )  # fmt: skip
    run.save_weights(untrained_parent.best_weights(), {"epoch": 1})
    train(corpus("질문"), tmp_path / "child", from_run=run.path)
    child = Run(tmp_path / "child")
    assert not child.config.grow_vocabulary
    assert child.tokenizer.model == run.tokenizer.model


def test_a_vocabulary_that_needs_nothing_stays(parent, tmp_path, no_steps, capsys):
    few = corpus("질문").head(4)  # Nothing is frequent in it.
    train(few, tmp_path / "run", from_run=parent, settings={"grow_vocabulary": True, "hold_out": False})
    assert "부모: its vocabulary has all that the corpus needs." in capsys.readouterr().out
    assert Run(tmp_path / "run").tokenizer.model == Run(parent).tokenizer.model


def test_growth_without_a_parent_or_begun_otherwise_is_refused(parent, tmp_path):
    with pytest.raises(InputError, match="--grow-vocabulary adds to the vocabulary of a run: name the run with --from"):
        train(REFUNDS, tmp_path / "run", TINY, settings={"grow_vocabulary": True})
    assert not (tmp_path / "run").exists()
    with pytest.raises(InputError, match="부모: was started with grow_vocabulary False, not True; name another run"):
        train(corpus("질문"), parent, settings={"grow_vocabulary": True})


def test_words_of_the_parents_corrections_become_pieces(parent, tmp_path, no_steps):
    run_dir = shutil.copytree(parent, tmp_path / "parent")
    Chatbot.load(run_dir).datastore.teach("ψ가 뭐야?", "Ψ")
    train(REFUNDS, tmp_path / "run", from_run=run_dir, settings={"grow_vocabulary": True})
    assert Run(tmp_path / "run").tokenizer.unknown("ψ Ψ") == []


def test_a_grown_training_resumes_with_the_tokenizer_file_that_its_parent_has(parent, tmp_path, no_steps):
    arguments = {"from_run": parent, "tokenizer": parent / "tokenizer.model", "settings": {"grow_vocabulary": True}}
    for _ in range(2):
        train(REFUNDS, tmp_path / "run", **arguments)
    assert Run(tmp_path / "run").tokenizer.vocab_size > Run(parent).tokenizer.vocab_size


def test_a_vocabulary_that_cannot_grow_is_refused_by_name(parent, monkeypatch):
    run = Run(parent)
    monkeypatch.setattr(run.tokenizer, "ending", ".subwords")
    with pytest.raises(InputError, match=r"부모: a \.subwords vocabulary cannot grow"):
        inherited_tokenizers(run, REFUNDS, TINY.replace(grow_vocabulary=True))


@pytest.mark.parametrize("kind", ["character", "word"])
def test_what_was_unknown_starts_as_the_unknown_id(kind):
    old = Tokenizer.train(["good day"], 300, kind)
    new = grow(old, ["환불"], 10)
    table = np.arange(2.0 * old.vocab_size, dtype="float32").reshape(-1, 2)
    weights = {"embedding/table": table, "outputs/bias": table[:, 0]}
    grown = grown_weights(weights, spellings(old, new), spellings(old, new))
    for row in range(old.vocab_size, new.vocab_size):
        np.testing.assert_array_equal(grown["embedding/table"][row], table[old.unk_id])
        assert grown["outputs/bias"][row] == table[old.unk_id, 0]
    np.testing.assert_array_equal(grown["embedding/table"][: old.vocab_size], table)


def test_what_is_lacking_cannot_control_a_terminal(parent):
    pairs = {"question": ["\x1b[2J"], "answer": ["답"]}
    assert r"(\u001b, J, [)" in inherited_tokenizers(Run(parent), pairs, TINY)[1]
