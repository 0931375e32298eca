import csv
import json
import math
import os
import pathlib
import shutil
import signal
import types

import keras
import numpy as np
import pandas as pd
import pytest

from keras_transformer import (
    Chatbot,
    Config,
    CorpusWarning,
    CustomSchedule,
    InputError,
    Run,
    Tokenizer,
    train,
)
from keras_transformer.backend.devices import Devices
from keras_transformer.data.corpus import Corpus
from keras_transformer.data.quality.recommendation import recommend_for
from keras_transformer.errors import RunFolderLost
from keras_transformer.runs.history import SCORE
from keras_transformer.runs.run import load_tensors
from keras_transformer.training import callbacks as training_callbacks
from keras_transformer.training import plan, trainer
from keras_transformer.training.checkpoint import load_checkpoint
from keras_transformer.training.ema import AveragedWeights
from keras_transformer.training.resume import check_corpus

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("weights_alone")]
TINY = Config(
    vocab_size=500, num_layers=1, d_model=16, num_heads=2, dff=16, batch_size=32, epochs=3, patience=0,
    warmup_steps=50, max_length=16, precision="float32",
)  # fmt: skip


@pytest.fixture(scope="module")
def pairs():
    questions = [f"질문 {i} {word}" for i in range(80) for word in ("하나", "two")]
    return pd.DataFrame({"question": questions, "answer": [f"대답 {i % 7}" for i in range(160)]})


@pytest.fixture(scope="module")
def few_pairs(pairs):
    """Of these an epoch has one step."""
    return pairs[:30]


def rows_of(run_dir):
    with open(run_dir / "metrics.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def weights_of(run_dir):
    return [keras.ops.convert_to_numpy(weight) for weight in Run(run_dir).load_model().weights]


@pytest.fixture(scope="module")
def trained(pairs, tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("trained") / "run"
    return run_dir, train(pairs, run_dir, TINY)


def test_a_run_folder_holds_all_that_the_run_is(trained):
    run_dir, summary = trained
    assert sorted(path.name for path in run_dir.iterdir()) == [
        "answering.json", "checkpoint.safetensors", "checksums.json", "config.json", "config.toml", "datastore.jsonl",
        "datastore.safetensors", "lock", "logs", "metrics.csv",
        "summary.json", "tokenizer.model", "weights.safetensors",
    ]  # fmt: skip
    assert json.loads((run_dir / "summary.json").read_text()) == summary
    assert list((run_dir / "logs").rglob("events.out.tfevents.*"))


def test_every_epoch_is_measured_on_the_validation_part(trained, pairs):
    run_dir, summary = trained
    rows = rows_of(run_dir)
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert set(rows[0]) >= {"loss", "accuracy", "val_loss", "val_accuracy", "val_bits_per_char", "pairs/s"}
    best = min(rows, key=lambda row: float(row["val_bits_per_char"]))
    assert summary["best_epoch"] == int(best["epoch"])
    assert summary["val_bits_per_char"] == float(best["val_bits_per_char"])
    assert float(rows[2]["loss"]) < float(rows[0]["loss"])
    assert float(rows[1]["val_loss"]) == pytest.approx(math.log(float(rows[1]["val_perplexity"])))


def test_every_epoch_tells_its_step_and_learning_rate(trained):
    rows = Run(trained[0]).metrics()
    steps = [row["step"] for row in rows]
    assert steps == [steps[0], 2 * steps[0], 3 * steps[0]]
    schedule = CustomSchedule(TINY.d_model, TINY.warmup_steps)
    assert [row["learning_rate"] for row in rows] == pytest.approx([float(schedule(step)) for step in steps])


def test_the_kept_weights_have_the_reported_score(trained, pairs):
    """Bits per character by their definition, one answer at a time, without the pipeline."""
    run_dir, summary = trained
    run, bits, characters = Run(run_dir), 0.0, 0
    model = run.load_model()
    from keras_transformer import split_pairs

    for question, answer in split_pairs(pairs)["validation"].itertuples(index=False):
        source = np.array([[2, *run.tokenizer.encode(question), 3]])
        target = [*run.tokenizer.encode(answer), 3]
        logits = model([source, np.array([[2, *target[:-1]]])], training=False)
        log_probabilities = keras.ops.convert_to_numpy(keras.ops.log_softmax(logits))[0]
        bits -= sum(log_probabilities[i, token] for i, token in enumerate(target)) / math.log(2)
        characters += len(answer)
    assert bits / characters == pytest.approx(summary["val_bits_per_char"], rel=1e-4)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
@pytest.mark.slow  # As float32 does.
def test_half_precision_trains_to_the_same_scores(trained, pairs, tmp_path, precision):
    summary = train(pairs, tmp_path / "run", TINY.replace(precision=precision))
    assert summary["val_bits_per_char"] == pytest.approx(trained[1]["val_bits_per_char"], rel=0.02)
    weights = Run(tmp_path / "run").load_model().weights
    assert {weight.dtype for weight in weights} == {"float32"}


@pytest.mark.usefixtures("no_steps")
def test_why_a_gpu_is_not_trained_on_is_said_below_where_it_is(pairs, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(trainer, "explain_unseen_gpu", lambda: "The driver is missing.")
    for devices, said in ((Devices(), True), (Devices(("a GPU",)), False)):
        monkeypatch.setattr(trainer, "find_devices", lambda devices=devices: devices)
        train(pairs, tmp_path / str(devices)[:3], TINY.replace(epochs=1))
        first, second, *_ = capsys.readouterr().out.splitlines()
        assert f" on {devices} in float32 (as requested): " in first
        assert (second == "The driver is missing.") is said


def test_a_finished_run_is_left_as_it_is(trained, pairs):
    run_dir, summary = trained
    before = (run_dir / "weights.safetensors").read_bytes()
    again = train(pairs, run_dir, TINY)
    assert again["best_epoch"] == summary["best_epoch"]
    assert (run_dir / "weights.safetensors").read_bytes() == before
    assert len(rows_of(run_dir)) == 3


def test_equal_seeds_give_equal_weights(trained, pairs, tmp_path):
    train(pairs, tmp_path / "again", TINY)
    for ours, theirs in zip(weights_of(trained[0]), weights_of(tmp_path / "again")):
        np.testing.assert_array_equal(ours, theirs)


def interrupt(monkeypatch, at, number=signal.SIGINT):
    """Presses Ctrl-C at a step, or sends another signal."""
    steps = iter(range(1, 100))
    original = training_callbacks.RunCheckpoint.on_train_batch_end

    def press(self, batch, logs=None):
        original(self, batch, logs)
        if next(steps) == at:
            os.kill(os.getpid(), number)

    monkeypatch.setattr(training_callbacks.RunCheckpoint, "on_train_batch_end", press)


@pytest.mark.parametrize("at", [2, 5, 9])
@pytest.mark.variants(2)
def test_interrupted_equals_uninterrupted(trained, pairs, tmp_path, monkeypatch, at):
    """Ctrl-C in an epoch, at its last step, and in a later one; then the same call again."""
    interrupt(monkeypatch, at)
    first = train(pairs, tmp_path / "run", TINY)
    assert not first["finished"]
    assert not (tmp_path / "run/summary.json").exists()
    second = train(pairs, tmp_path / "run", TINY)
    assert second["finished"]

    measured = [{k: v for k, v in row.items() if k != "pairs/s"} for row in rows_of(tmp_path / "run")]
    assert measured == [{k: v for k, v in row.items() if k != "pairs/s"} for row in rows_of(trained[0])]
    for ours, theirs in zip(weights_of(tmp_path / "run"), weights_of(trained[0])):
        np.testing.assert_array_equal(ours, theirs)


def test_other_settings_train_and_go_on_too(pairs, tmp_path, monkeypatch):
    """Stopped in the second epoch, with one of two batches accumulated: an epoch has three."""
    pairs = pairs[:96]
    config = TINY.replace(label_smoothing=0.1, schedule="cosine", warmup_steps=2, clip_norm=1.0, accumulate=2, epochs=2)
    train(pairs, tmp_path / "whole", config)
    interrupt(monkeypatch, at=5)
    assert not train(pairs, tmp_path / "parts", config)["finished"]
    assert train(pairs, tmp_path / "parts", config)["finished"]
    for ours, theirs in zip(weights_of(tmp_path / "whole"), weights_of(tmp_path / "parts")):
        np.testing.assert_array_equal(ours, theirs)


def test_a_cosine_without_time_to_fall_is_refused_before_anything_is_made(pairs, tmp_path):
    with pytest.raises(InputError, match="warmup_steps 50 must be below the 15 updates"):
        train(pairs, tmp_path / "run", TINY.replace(schedule="cosine"))
    assert not (tmp_path / "run").exists()


def test_more_epochs_go_on_from_the_last(trained, pairs, tmp_path):
    train(pairs, tmp_path / "run", TINY.replace(epochs=2))
    assert train(pairs, tmp_path / "run", TINY.replace(epochs=3))["epochs"] == 3
    assert Run(tmp_path / "run").config.epochs == 3
    for ours, theirs in zip(weights_of(tmp_path / "run"), weights_of(trained[0])):
        np.testing.assert_array_equal(ours, theirs)


def test_fewer_epochs_than_a_finished_run_has_leave_nothing_to_train(few_pairs, tmp_path, capsys):
    cosine = TINY.replace(epochs=2, schedule="cosine", warmup_steps=1)
    summary = train(few_pairs, tmp_path / "run", cosine)
    assert train(few_pairs, tmp_path / "run", cosine.replace(epochs=1)) == summary
    assert "Nothing left to train" in capsys.readouterr().out
    assert Run(tmp_path / "run").config.epochs == 2  # As many as would repeat it.


def test_a_run_that_goes_on_is_not_finished_until_it_is(pairs, tmp_path, monkeypatch):
    train(pairs, tmp_path / "run", TINY.replace(epochs=1))
    monkeypatch.setattr(
        training_callbacks.EpochScores, "on_epoch_begin", lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)
    )
    monkeypatch.setattr(
        training_callbacks.EpochScores, "on_train_batch_end", lambda self, batch, logs: logs.update({"pairs/s": 1.0})
    )
    assert not train(pairs, tmp_path / "run", TINY)["finished"]
    assert not (tmp_path / "run/summary.json").exists()


def test_nothing_is_made_of_a_corpus_that_is_too_long(pairs, tmp_path):
    with pytest.warns(CorpusWarning), pytest.raises(InputError, match="no pair of at most 3 tokens"):
        train(pairs, tmp_path / "run", TINY.replace(max_length=3))
    assert not (tmp_path / "run").exists()


def test_pairs_of_other_columns_or_without_text_are_refused(pairs, tmp_path):
    with pytest.raises(InputError, match="no column 'question'; they have 'Q', 'answer'"):
        train(pairs.rename(columns={"question": "Q"}), tmp_path / "run", TINY)
    with pytest.raises(InputError, match=r"row 1 of the pairs: answer must be non-empty text, not (nan|None)"):
        train(pd.DataFrame({"question": ["a", "b"], "answer": ["a", None]}), tmp_path / "run", TINY)


def test_patience_ends_training(few_pairs, tmp_path, monkeypatch):
    monkeypatch.setattr(
        training_callbacks.EpochScores,
        "on_epoch_end",
        lambda self, epoch, logs: logs.update({SCORE: epoch, "pairs/s": 1.0}),
    )
    summary = train(few_pairs, tmp_path / "run", TINY.replace(epochs=9, patience=2))
    assert (summary["epochs"], summary["best_epoch"]) == (3, 1)


def scores(monkeypatch, **columns):
    """Lets the epochs have these scores, one after the other."""

    def measure(self, epoch, logs):
        logs.update({SCORE: 1.0, "pairs/s": 1.0}, **{name: values[epoch] for name, values in columns.items()})

    monkeypatch.setattr(training_callbacks.EpochScores, "on_epoch_end", measure)


def test_the_monitor_decides_on_patience_and_weights(few_pairs, tmp_path, monkeypatch):
    scores(monkeypatch, val_accuracy=[0.25, 0.75, 0.5, 0.5, 0.9])
    summary = train(few_pairs, tmp_path / "run", TINY.replace(epochs=5, patience=2, monitor="val_accuracy"))
    assert (summary["epochs"], summary["best_epoch"], summary["val_accuracy"]) == (4, 2, 0.75)
    assert load_tensors(tmp_path / "run/weights.safetensors", Run(tmp_path / "run").id)[1]["epoch"] == 2


def test_epochs_that_no_other_can_better_are_the_last(few_pairs, tmp_path, monkeypatch, capsys):
    scores(monkeypatch, val_accuracy=[0.25, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0], val_loss=[0.9, 0.5, 0.4, 0.3, 0.2, 0.3, 0.1])
    settings = TINY.replace(epochs=7, monitor="val_accuracy")
    summary = train(few_pairs, tmp_path / "run", settings)
    assert (summary["epochs"], summary["best_epoch"], summary["finished"]) == (6, 5, True)
    assert "It ended early, because every token of the validation answers was predicted." in capsys.readouterr().out
    assert train(few_pairs, tmp_path / "run", settings) == summary
    assert "is finished, with best epoch 5 of 6" in (said := capsys.readouterr().out) and "raise" not in said


def test_a_corpus_that_is_memorized_is_trained_no_longer(few_pairs, tmp_path, monkeypatch, capsys):
    scores(monkeypatch, accuracy=[0.5, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0])
    summary = train(few_pairs, tmp_path / "run", TINY.replace(epochs=7, monitor="accuracy"))
    assert (summary["epochs"], summary["best_epoch"], summary["finished"]) == (6, 6, True)
    assert "It ended early, because every token of the training answers was predicted." in capsys.readouterr().out


def test_another_monitor_is_refused_where_it_would_have_kept_other_weights(few_pairs, tmp_path, monkeypatch):
    scores(monkeypatch, val_accuracy=[0.5, 0.75], accuracy=[0.5, 0.25])
    train(few_pairs, tmp_path / "run", TINY.replace(epochs=2))
    with pytest.raises(InputError, match="by val_accuracy epoch 2 is best, but the weights kept are those of epoch 1"):
        train(few_pairs, tmp_path / "run", TINY.replace(epochs=2, monitor="val_accuracy"))
    assert train(few_pairs, tmp_path / "run", TINY.replace(epochs=2, monitor="accuracy"))["best_epoch"] == 1
    assert Run(tmp_path / "run").config.monitor == "accuracy"


def test_another_corpus_or_setting_is_refused(trained, pairs, tmp_path):
    run_dir, _ = trained
    with pytest.raises(InputError, match=r"was trained on another corpus, .* \(160 pairs then, 150 now\): .*run-2$"):
        train(pairs[:150], run_dir, TINY)
    run = shutil.copytree(run_dir, tmp_path / "run")
    Chatbot.load(run).datastore.teach("질문 0 하나", "새 대답")
    with pytest.raises(InputError, match=r"take its corrections along: --run .*run-2 --from .*run$"):
        train(pairs[:150], run, TINY)
    (run / "corrections.jsonl").unlink()  # As in a run that was trained on those of its parent.
    inherited = Run(run)
    inherited.corpus["corrections"] = [{"question": "질문 0 하나", "answer": "새 대답"}]
    with pytest.raises(InputError, match=r"take its corrections along"):
        check_corpus(inherited, Corpus(pairs[:150]).survey())
    with pytest.raises(InputError, match="was started with d_model 16, not 32"):
        train(pairs, run_dir, TINY.replace(d_model=32))


def test_pairs_are_counted_once_where_nothing_is_held_out(pairs, tmp_path):
    config = TINY.replace(hold_out=False, epochs=1)
    train(pairs[:20], tmp_path / "run", config)
    with pytest.raises(InputError, match=r"\(20 pairs then, 20 now\)"):
        train(pairs[1:21], tmp_path / "run", config)


def test_a_process_that_does_not_write_has_the_corpus_of_the_one_that_does(trained, pairs, tmp_path, monkeypatch):
    """The run is not there before all have come to where it is made."""
    for module in (plan, trainer):
        monkeypatch.setattr(module, "process_number", lambda: 1)
    monkeypatch.setattr(trainer, "wait_for_all", lambda place: shutil.copytree(trained[0], tmp_path / "run"))
    with pytest.raises(InputError, match="was trained on another corpus"):
        train(pairs[:-1], tmp_path / "run", TINY)
    shutil.rmtree(tmp_path / "run")
    before = {path.name: path.read_bytes() for path in trained[0].iterdir() if path.is_file()}
    monkeypatch.setattr(plan, "process_count", lambda: 2)
    train(pairs, tmp_path / "run", TINY.replace(epochs=4))
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()} == before


def test_a_corpus_without_validation_questions_is_refused(tmp_path):
    pairs = pd.DataFrame({"question": ["안녕"] * 20, "answer": ["응"] * 20})
    with pytest.raises(InputError, match="too small: the split of its 20 pairs leaves none for validation"):
        train(pairs, tmp_path / "run", TINY)
    assert not (tmp_path / "run").exists()


def test_a_folder_of_other_things_is_left_alone(pairs, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="contains other files"):
        train(pairs, tmp_path, TINY)
    assert [path.name for path in pathlib.Path(tmp_path).iterdir()] == ["notes.txt"]


def test_a_run_with_tokenizers_of_questions_and_answers_answers_by_the_second(tmp_path):
    pairs = pd.DataFrame({"question": [f"ab {i}" for i in range(160)], "answer": ["ʃ j ɛ̃"] * 160})
    config = TINY.replace(tokenizer="character", target_tokenizer="word", epochs=8, warmup_steps=20, jamo=True)
    train(pairs, tmp_path / "run", config)
    run = Run(tmp_path / "run")
    assert run.target_tokenizer.vocab_size == 4 + 3 and run.tokenizer.vocab_size == 4 + 2 + 1 + 10
    assert sorted(path.name for path in run.path.glob("*.model")) == ["target_tokenizer.model", "tokenizer.model"]
    assert Chatbot.load(run.path).reply("ab 7") == "ʃ j ɛ̃"
    assert train(pairs, tmp_path / "run")["epochs"] == 8


@pytest.mark.usefixtures("no_steps")
def test_a_run_takes_a_tokenizer_from_a_file_and_goes_on_with_no_other(pairs, tmp_path):
    for name, texts in (("one", ["질문 대답 하나 two 0123456789"]), ("other", ["abc"])):
        Tokenizer.train(texts, kind="character").save(tmp_path / name)
    train(pairs, tmp_path / "run", TINY.replace(epochs=1), tokenizer=tmp_path / "one")
    assert Run(tmp_path / "run").tokenizer.model == (tmp_path / "one").read_bytes()
    assert f'tokenizer_file = "{tmp_path}/one"' in (tmp_path / "run/config.toml").read_text("utf-8")
    with pytest.raises(InputError, match=r"run: has another tokenizer than .*other; name another run folder"):
        train(pairs, tmp_path / "run", tokenizer=tmp_path / "other")


def test_training_from_shards_equals_training_from_one_file(pairs, tmp_path):
    (tmp_path / "shards").mkdir()
    for i in range(4):
        pairs[40 * i : 40 * (i + 1)].to_csv(tmp_path / f"shards/{i}.csv", index=False)
    train(tmp_path / "shards", tmp_path / "sharded", TINY.replace(epochs=1))
    train(pairs, tmp_path / "whole", TINY.replace(epochs=1))
    for ours, theirs in zip(weights_of(tmp_path / "sharded"), weights_of(tmp_path / "whole")):
        np.testing.assert_array_equal(ours, theirs)


SMALL = {"num_layers": 1, "d_model": 16, "num_heads": 2, "dff": 16, "precision": "float32"}


def test_without_a_config_a_run_is_trained_as_recommended(tmp_path, capsys):
    pairs = pd.DataFrame(
        {"question": [f"질문 {i}번은?" for i in range(12)], "answer": [f"대답 {i}" for i in range(12)]}
    )
    train(pairs, tmp_path / "run", settings={**SMALL, "epochs": 2})
    recommended = recommend_for(Corpus(pairs))[0].replace(**SMALL, epochs=2)
    assert capsys.readouterr().out.splitlines()[0] == recommended.line
    run = Run(tmp_path / "run")
    assert run.config.replace(warmup_steps=1) == recommended.config.replace(warmup_steps=1)
    assert run.config.warmup_steps < Run(run.path).metrics()[-1]["step"]  # The training is shorter than recommended.
    assert (run.corpus["train"], run.corpus["validation"]) == (12, 12)
    assert train(pairs, tmp_path / "run", settings={"epochs": 3})["epochs"] == 3
    assert "Chosen for" not in capsys.readouterr().out


def test_a_memorized_corpus_is_indexed_before_the_first_step(pairs, tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(trainer, "index_memorized", lambda run, corpus: done.append("indexed"))
    monkeypatch.setattr(trainer, "fit_with_callbacks", lambda *_: bool(done.append("trained")))
    train(pairs, tmp_path / "run", TINY.replace(hold_out=False))
    assert done == ["indexed", "trained"]


@pytest.mark.usefixtures("no_steps")
def test_settings_go_before_those_of_a_config(pairs, tmp_path, capsys):
    train(pairs, tmp_path / "run", TINY, settings={"epochs": 1})
    assert Run(tmp_path / "run").config == TINY.replace(epochs=1)
    assert "Chosen for" not in capsys.readouterr().out
    with pytest.raises(InputError, match="epochs must be a whole number of at least 1, not 0"):
        train(pairs, tmp_path / "other", settings={"epochs": 0})


@pytest.mark.usefixtures("no_steps")
def test_all_settings_leave_nothing_to_choose(pairs, tmp_path, capsys):
    train(pairs, tmp_path / "run", settings=TINY.replace(epochs=1).to_dict())
    assert "Chosen for" not in capsys.readouterr().out


def test_what_is_asked_to_be_held_out_is_never_trained_on(tmp_path):
    few = pd.DataFrame({"question": ["안녕"] * 20, "answer": ["응"] * 20})
    with pytest.raises(InputError, match="too small: the split of its 20 pairs leaves none for validation"):
        train(few, tmp_path / "run", settings={"hold_out": True})


@pytest.mark.parametrize("first", [None, TINY])
@pytest.mark.variants(1)
def test_a_run_that_another_training_makes_or_changes_after_the_plan_is_left_as_it_is(
    pairs, tmp_path, monkeypatch, first
):
    """The other one begins and ends between the look at the folder and the lock."""
    run_dir, make_plan = tmp_path / "run", trainer.make_plan
    if first:
        train(pairs, run_dir, TINY.replace(epochs=1))

    def made_before_another_training(*arguments):
        made = make_plan(*arguments)
        monkeypatch.setattr(trainer, "make_plan", make_plan)
        train(pairs, run_dir, TINY.replace(epochs=2, d_model=16 if first else 8))
        return made

    monkeypatch.setattr(trainer, "make_plan", made_before_another_training)
    message = "run: another training has just changed it. Run the same command again."
    with pytest.raises(InputError, match=message):
        train(pairs, run_dir, TINY)
    run = Run(run_dir)
    assert (run.config.epochs, run.config.d_model) == (2, 16 if first else 8)
    assert len(run.metrics()) == 2 and run.load_model()


@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_the_end_of_a_job_and_of_a_terminal_save_as_ctrl_c_does(pairs, tmp_path, monkeypatch, name):
    number = getattr(signal, name)
    before = signal.signal(number, signal.SIG_DFL)  # The tests may have been started by nohup.
    try:
        interrupt(monkeypatch, at=3, number=number)
        assert not train(pairs, tmp_path / "run", TINY)["finished"]
        assert load_checkpoint(Run(tmp_path / "run"))[1] == 3
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signal there")
def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # As nohup does.
    try:
        with training_callbacks.StopOnInterrupt(None):
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_weights_that_are_not_finite_are_never_a_checkpoint(tmp_path):
    run = Run.create(tmp_path / "run", TINY, Tokenizer.train(["가나다 abc"], 400), {"name": "none"})
    model = trainer.compiled_model(run, tokens_per_batch=30)
    written = []
    writer = types.SimpleNamespace(write=written.extend)
    run_checkpoint = training_callbacks.RunCheckpoint(run, 5, 2, [], 0.0, {}, AveragedWeights(), writer)
    run_checkpoint.set_model(model)
    run_checkpoint.save()
    assert len(written) == 1
    weight = model.trainable_variables[0]
    weight.assign(keras.ops.full(weight.shape, np.nan))
    run_checkpoint.save()
    assert len(written) == 1


@pytest.mark.skipif(os.name == "nt", reason="what is open cannot be moved there")
@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.slow  # A fault, as those of tests/hard.
def test_a_run_folder_that_is_moved_or_deleted_is_said_and_the_training_is_kept(pairs, tmp_path, monkeypatch, moved):
    run_dir, original = tmp_path / "run", training_callbacks.RunCheckpoint.on_epoch_begin

    def losing_the_folder(self, epoch, logs=None):
        original(self, epoch, logs)
        if epoch == 1:
            self.writer.wait()
            os.replace(run_dir, tmp_path / "moved") if moved else shutil.rmtree(run_dir)

    with monkeypatch.context() as patch, pytest.raises(RunFolderLost) as raised:
        patch.setattr(training_callbacks.RunCheckpoint, "on_epoch_begin", losing_the_folder)
        train(pairs, run_dir, TINY)
    rescued = tmp_path / "run-rescued"
    assert "run: the folder was moved or deleted during training. Its latest state is saved in" in raised.value.strerror
    assert f"--run {rescued}" in raised.value.strerror
    assert not (run_dir / "config.json").exists()
    Run(rescued).check_files()
    assert Run(rescued).load_model()
    assert train(pairs, rescued, TINY)["epochs"] == 3
    if moved:
        assert train(pairs, tmp_path / "moved", TINY)["epochs"] == 3
