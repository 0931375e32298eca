"""The whole command on a tiny corpus: our program is a stand-in, and so are the peers' scripts."""

import sys
import types

import numpy as np
import pytest

from benchmarks.korean_chatbot import __main__ as command
from benchmarks.korean_chatbot import memory, search, systems, ways
from benchmarks.korean_chatbot.options import settings_file
from benchmarks.korean_chatbot.ways import Asker
from keras_transformer import Chatbot, InputError, preset
from keras_transformer.cli.main import parser
from keras_transformer.config_file import read_config_file

pytestmark = pytest.mark.heavy

OURS = """
import argparse, pathlib, sys
parser = argparse.ArgumentParser()
parser.add_argument("command")
parser.add_argument("corpus")
for name in ("run", "preset", "config", "seed", "epochs"):
    parser.add_argument(f"--{name}")
options, _ = parser.parse_known_args()
with open(pathlib.Path(__file__).with_name("turns"), "a") as turns:
    turns.write(f"{pathlib.Path(options.corpus).name} {options.preset} {options.seed} {options.epochs}\\n")
if options.config:
    sys.exit("no luck in /some/where")
pathlib.Path(options.run).mkdir(parents=True)
"""

COMMON = """
import pandas
PAD, UNK, BOS, EOS = range(4)
class Tokenizer:
    def decode(self, rows):
        return ["".join(map(chr, row)) for row in rows]
    def get_piece_size(self):
        return 128
    def serialized_model_proto(self):
        return b"a model"
def load(path):
    frame = pandas.read_csv(path)
    return (list(frame.Q), list(frame.A)), (list(frame.Q[:9]), list(frame.A[:9]))
def tokenizer(texts):
    return Tokenizer()
def encode(tokenizer, texts):
    return [[BOS, *map(ord, text), EOS] for text in texts]
"""

TUTORIAL = """
import keras
V, D, PAD_TO, BATCH = 128, 4, 12, 8
Warmup = lambda d: 0.01
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
def model():
    x, y = keras.Input((None,), dtype="int32", name="inputs"), keras.Input((None,), dtype="int32", name="dec_inputs")
    seen = keras.layers.GlobalAveragePooling1D(keepdims=True)(keras.layers.Embedding(V, D)(x))
    return keras.Model([x, y], keras.layers.Dense(V)(keras.layers.Embedding(V, D)(y) + seen))
"""


class Bot:
    def n_best(self, questions, generation):
        return [[(f"answer {len(question)}", -1.0)] * generation.num_return for question in questions]


@pytest.fixture
def turns(tmp_path, ours_is, monkeypatch):
    """A function that tells which trainings there were; ours is a stand-in that fails with a --config."""
    ours_is(tmp_path / "ours.py", OURS)
    monkeypatch.setattr(Chatbot, "load", lambda run: Bot())
    monkeypatch.setattr(Asker, "_likelihood", property(lambda self: [[5.0] * len(self._exam.questions)] * 2))
    monkeypatch.setattr(ways, "log_probabilities", lambda bot, questions, found: [[0.0] * len(one) for one in found])
    monkeypatch.setattr(memory, "cosines", lambda bot, questions, known: np.zeros((len(questions), len(known))))
    path = tmp_path / "turns"
    return lambda: path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def words(corpus, results, tmp_path):
    return [str(corpus), "--work", str(tmp_path / "work"), "--results", str(results), "--seeds", "0", "1"]


def test_what_fails_is_told_and_costs_the_others_nothing(turns, words, results, capsys):
    command.main(words)
    text = results.read_text("utf-8")
    assert "| ours: small, greedy | 1.000 (1.000–1.000) | " in text
    assert "| most frequent answer | n/a | " in text
    assert "- ours: regularised, greedy: no luck in …/where\n" in text
    assert "- the peers: no --peers was given\n" in text
    assert "of the test split of pairs.csv" in text
    assert turns()[:2] == ["pairs.csv small 0 None", "pairs.csv small 1 None"]
    assert capsys.readouterr().out.startswith("# Answers to questions")


def test_a_second_start_trains_nothing_that_is_there(turns, words, results):
    command.main(words)
    before, first = len(turns()), results.read_text("utf-8")
    command.main(words)
    assert not any("small" in turn for turn in turns()[before:])
    assert results.read_text("utf-8").split("\n\n", 2)[2] == first.split("\n\n", 2)[2]


def test_other_epochs_are_another_training(turns, words, monkeypatch, tmp_path):
    command.main(words)
    (tmp_path / "work" / "runs" / "small-0").rmdir()
    (tmp_path / "work" / "runs" / "small-1").rmdir()
    before = len(turns())
    command.main([*words, "--epochs", "3"])
    assert turns()[before:][:2] == ["pairs.csv small 0 3", "pairs.csv small 1 3"]


def test_the_validation_part_is_printed_and_no_document_is_touched(turns, words, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "DOCUMENT", tmp_path / "document.md")
    where = words.index("--results")
    words = words[:where] + words[where + 2 :]
    command.main([*words, "--split", "validation"])
    assert "of the validation split of pairs.csv" in capsys.readouterr().out
    assert not (tmp_path / "document.md").exists()
    command.main(words)
    assert "of the test split" in (tmp_path / "document.md").read_text("utf-8")


@pytest.mark.slow  # Starts programs.
def test_peers_are_trained_and_asked_in_a_process_of_their_own(turns, words, results, tmp_path, monkeypatch):
    monkeypatch.setattr(systems, "PEERS", {"tutorial": "tutorial (peer)"})
    (tmp_path / "peers").mkdir()
    (tmp_path / "peers" / "common.py").write_text(COMMON)
    (tmp_path / "peers" / "tutorial_train.py").write_text(TUTORIAL)
    words = [*words[:-3], "--seeds", "0", "--peers", str(tmp_path / "peers"), "--peer-epochs", "2"]
    command.main(words)
    [row] = [line for line in results.read_text("utf-8").splitlines() if line.startswith("| tutorial (peer)")]
    bits = float(row.split(" | ")[1].split()[0])
    assert 3 < bits < 9  # Of 128 characters that are equally likely: 7 each, and those of the end.
    assert "| bits per character of tutorial (peer) |" in results.read_text("utf-8")
    kept = tmp_path / "work" / "runs" / "tutorial_of_2_epochs-0"
    assert sorted(path.name for path in kept.iterdir()) == ["best.weights.h5", "scores.json", "tokenizer.model"]


def test_a_peer_is_told_its_seed_and_keeps_a_model_for_each(words, corpus, tmp_path, monkeypatch):
    started = []

    def run_program(program, watch):
        given = dict(zip(program[3::2], program[4::2]))
        started.append((given["--seed"], given["--kept"].name, given["--epochs"]))
        given["--output"].write_text('{"question": "q", "answer": "a", "bits": 1.0, "characters": 1}', "utf-8")
        return types.SimpleNamespace(check=lambda: None)

    monkeypatch.setattr(systems, "run_program", run_program)
    options = command.parse([*words, "--peers", str(tmp_path), "--peer-epochs", "9", "--tutorial-seeds", "1", "1"])
    about = command.Corpus(corpus)
    work = command.WorkFolder(tmp_path / "work", corpus)
    wanted = systems.peers(command.Exam(about.pairs, "test"), about, work, options)
    for system in wanted:
        assert {tuple(system.ask(seed).texts) for seed in system.seeds} == {("a",)}
    assert started == [
        (1, "tutorial_of_9_epochs-1", 9), (0, "torch_of_9_epochs-0", 9), (1, "torch_of_9_epochs-1", 9)
    ]  # fmt: skip


def test_the_tutorial_has_all_seeds_unless_told(words, tmp_path):
    assert command.parse([*words, "--peers", str(tmp_path)]).tutorial_seeds == [0, 1]


def test_peers_that_cannot_run_are_left_out(turns, words, results, tmp_path):
    (tmp_path / "peers").mkdir()
    command.main([*words, "--peers", str(tmp_path / "peers"), "--peers-python", sys.executable])
    text = results.read_text("utf-8")
    assert "- PyTorch (peer): ModuleNotFoundError: No module named 'common'" in text
    assert "| ours: small, greedy |" in text


def test_a_reverse_run_learns_from_answers_to_questions_and_nothing_of_the_test(corpus, tmp_path, ours_is):
    ours_is(tmp_path / "ours.py", OURS)
    about = command.Corpus(corpus)
    trainer = systems.Trainer(about, command.WorkFolder(tmp_path / "work", corpus))
    run = trainer.reverse("small", ("--preset", "small"), 0)
    assert run.name == "small_reverse-0"
    assert (tmp_path / "turns").read_text() == "reverse small 0 None\n"
    files = {path.name: path.read_text() for path in (tmp_path / "work" / "reverse").iterdir()}
    assert sorted(files) == ["train.csv", "validation.csv"]
    exam = command.Exam(about.pairs, "test")
    assert f"\n{exam.references[0][0]}," not in "".join(files.values())
    first = exam.train.iloc[0]
    assert files["train.csv"].splitlines()[:2] == ["question,answer", f"{first['answer']},{first['question']}"]


def test_the_search_asks_the_validation_part(turns, words, results, monkeypatch):
    monkeypatch.setattr(search, "IN_ALL_WAYS", "dropout 0.3")
    search.main([*words[:5], "--only", "small", "dropout 0.3"])
    text = results.read_text("utf-8")
    assert text.startswith(
        "# What was tried for the Korean chat corpus\n\n`python -m benchmarks.korean_chatbot.search "
    )
    assert "of the validation split" in text
    settings, chosen = text.split("\n## Settings\n")[1].split("\n## Ways of choosing answers\n")
    assert [line.split(" | ")[0] for line in settings.splitlines() if ", " in line] == [
        f"| {name}, {way}" for name in ("small", "dropout 0.3") for way in search.FEW_WAYS
    ]
    for way in ways.WAYS:
        assert f"| dropout 0.3, {way} | 1.000 (" in chosen
    assert "| nearest question (TF-IDF of " in text
    assert turns() == ["pairs.csv small 0 None", "pairs.csv small 0 None", "reverse small 0 None"]


def test_settings_alone_are_searched_in_a_few_ways(turns, words, results):
    search.main([*words[:5], "--only", "small"])
    assert "## Ways" not in results.read_text("utf-8")
    assert turns() == ["pairs.csv small 0 None"]


def test_all_settings_of_the_search_can_be_trained_with():
    for given in search.CANDIDATES.values():
        options = parser().parse_args(["train", "corpus.csv", "--run", "run", *map(str, given)])
        assert options.preset == "small" or options.config
    assert search.IN_ALL_WAYS in search.CANDIDATES
    assert set(search.FEW_WAYS) <= set(ways.WAYS)


@pytest.mark.parametrize("name", command.CHOSEN)
def test_our_chosen_settings_can_be_trained_with(name):
    settings, rest = read_config_file(settings_file(name))
    config = preset(rest["preset"]).replace(**settings)  # Which refuses what cannot be.
    assert config.patience or config.epochs < 100
    assert set(command.CHOSEN[name]) <= set(ways.WAYS)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--split", "train"], "argument --split: invalid choice: 'train'"),
        (["--presets", "huge"], "argument --presets: invalid choice: 'huge'"),
        (["--peers", "no such folder"], "argument --peers: no such folder: no such folder"),
        (["--seeds", "-1"], "argument --seeds: must be at least 0, not -1"),
        (["--peer-epochs", "0"], "argument --peer-epochs: must be at least 1, not 0"),
    ],
)
def test_what_cannot_be_is_told(words, more, said, capsys):
    with pytest.raises(SystemExit) as end:
        command.main([*words, *more])
    assert end.value.code == 2
    assert said in capsys.readouterr().err


def test_a_corpus_that_is_not_there_is_told(words, results, tmp_path):
    with pytest.raises(InputError, match=r"no_such\.csv"):
        command.main([str(tmp_path / "no_such.csv"), *words[1:]])
    assert not results.exists()
