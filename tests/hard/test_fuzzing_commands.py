"""Whatever is typed: a result, or what is wrong in words, with the exit status that goes with it."""

import argparse
import shutil
import tempfile

import pytest
from hypothesis import strategies as st

from keras_transformer import Chatbot
from keras_transformer.chat.datastore import CORRECTIONS
from keras_transformer.cli import serve
from keras_transformer.cli.main import parser
from keras_transformer.runs.checksums import remove_recorded

from .conftest import texts

pytestmark = pytest.mark.slow
SHARES = {
    "tokenize": 0.02, "teach": 0.012, "forget": 0.012, "info": 0.02, "presets": 0.006, "data list": 0.002,
    "data show": 0.009, "data check": 0.006, "test": 0.006, "serve": 0.006, "chat": 0.001, "answer": 0.001,
    "plot": 0.001, "train": 0.001, "evaluate": 0.0005, "compare": 0.0005, "calibrate": 0.0005, "average": 0.001,
    "import-tutorial": 0.006, "attention": 0.0005, "export": 0.0005, "report": 0.0005, "doctor": 0.0005,
}  # fmt: skip
"""Of the inputs, more where they take less time. `demo` and `data download` take minutes, or a network."""
RUNS = ["run", "missing", "pairs.csv", "empty", "", "damaged", "run/config.json"]
CORPORA = [
    "pairs.csv", "pairs.jsonl", "damaged.csv", "missing.csv", "empty", "small_talk", "run", "none.xyz",
    "/dev/null",
]  # fmt: skip
FILES = ["golden.jsonl", "run/config.toml", "run/tokenizer.model", *CORPORA]
OUTPUTS = ["out/new", "out/new.html", "out/new.png", "out/new.pdf", "pairs.csv", "empty", "missing/new.html", "out"]
NUMBERS = [
    "-1", "0", "1", "2", "3", "5", "0.5", "1.0", "-0.5", "1e-9", "nan", "inf", "x", "", "9" * 30, "9" * 5000,
    "٣",
]  # fmt: skip
OTHERS = {
    "run": RUNS, "from_run": RUNS, "runs": RUNS, "second": RUNS, "corpus": CORPORA, "validation": CORPORA,
    "weights": ["damaged", "missing", "empty", "", "pairs.csv", "run/weights.safetensors"],
    "path": OUTPUTS, "output": OUTPUTS, "host": ["127.0.0.1", "", "::1"], "port": ["0", "-1", "99999", "x"],
}  # fmt: skip
ABSENT = {"coordinator", "processes", "process", "ray_workers", "ray_retries", "ray_gpus"}
"""Options of `train` that wait for other machines."""


def command_of(words):
    """The parser of a command."""
    found = parser()
    for word in words.split():
        [subcommands] = [action for action in found._actions if isinstance(action, argparse._SubParsersAction)]
        found = subcommands.choices[word]
    return found


def values_of(action):
    """Values of an argument, most of them of its kind."""
    words = texts.map(lambda text: text.replace("\0", "").replace("\ud800", "\udc80").replace("\udfff", "\udcff"))
    if action.choices:
        return st.sampled_from([*map(str, action.choices)]) | words
    if action.type in (int, float):
        return st.sampled_from(NUMBERS)
    if action.dest in OTHERS:
        return st.sampled_from(OTHERS[action.dest])
    if action.metavar in ("FILE", "RUN", "CORPUS", "PATH"):
        return st.sampled_from({"FILE": FILES, "RUN": RUNS, "CORPUS": CORPORA, "PATH": OUTPUTS}[action.metavar])
    return words


@st.composite
def lines(draw, command):
    """The words of a command line: the arguments that it needs, usually, and some of its options, in any order."""
    words = []
    for action in (action for action in command._actions if action.dest not in ABSENT):
        number = 1 if action.nargs in (None, "?", "*", "+") else action.nargs
        if not action.option_strings:
            if draw(st.integers(0, 15)):
                words += [
                    draw(values_of(action)) for _ in range(draw(st.integers(1, 2)) if action.nargs in ("*", "+") else 1)
                ]
            continue
        likely = action.required or action.dest in ("run", "output")
        if draw(st.integers(0, 15)) < (14 if likely else 1):
            words += [draw(st.sampled_from(action.option_strings)), *(draw(values_of(action)) for _ in range(number))]
    if not draw(st.integers(0, 20)):
        words.insert(draw(st.integers(0, len(words))), draw(texts).replace("\0", ""))
    return words


@pytest.fixture(scope="module")
def place(run_copy, small_pairs):
    """A folder of things that a command may be given."""
    folder = run_copy.parent
    small_pairs.to_csv(folder / "pairs.csv", index=False)
    small_pairs.to_json(folder / "pairs.jsonl", orient="records", lines=True)
    (folder / "damaged.csv").write_bytes(b'question,answer\n"a,b\n\xff,c\nd,e\n')
    (folder / "golden.jsonl").write_text('{"question": "hello", "answers": ["Hi there!"]}\n')
    (folder / "empty").mkdir()
    shutil.copytree(run_copy, folder / "damaged")
    (folder / "damaged/weights.safetensors").write_bytes(b"damaged")
    Chatbot.load(run_copy).reply("hello", answer_by="generate")  # Imports.
    return folder


@pytest.fixture
def bounded(monkeypatch):
    """Trains no step, serves nobody, and compiles nothing, which a process of its own would and never free."""
    from keras_transformer.decoding import compiled, generate
    from keras_transformer.serving import server
    from keras_transformer.training import trainer

    monkeypatch.setattr(trainer, "fit_with_callbacks", lambda *_: False)
    monkeypatch.setattr(trainer, "index_memorized", lambda *_: None)
    monkeypatch.setattr(trainer, "prepare_answers", lambda *_: "")
    monkeypatch.setattr(generate, "compiled", lambda function, *_: compiled.compiled(function, [], compiled.Budget(0)))
    monkeypatch.setattr(serve, "end_at_signals", lambda: None)
    monkeypatch.setattr(server, "run_server", lambda *_: None)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files of this test alone: those of a whole suite come and go."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", SHARES)
def test_command(name, fuzz, place, bounded, call, temporary, monkeypatch):
    monkeypatch.chdir(place)
    command = command_of(name)
    config = (place / "run/config.json").read_bytes()

    def check(case):
        words, stdin = case
        (place / "out").mkdir()
        try:
            process = call(*name.split(), *words, stdin=stdin)
        finally:
            shutil.rmtree(place / "out")
            shutil.rmtree(place / "missing", ignore_errors=True)
            remove_recorded(place / "run" / CORRECTIONS)
        assert process.returncode in (0, 1, 2, 130)
        assert "Traceback" not in process.stdout + process.stderr
        last = process.stderr.rstrip("\n").rpartition("\n")[2]
        if process.returncode == 2:
            assert process.stdout or "error: " in last or "오류: " in last
        if process.returncode == 1:
            assert process.stdout or "failed: " in last

    questions = st.lists(texts, max_size=4).map(lambda rows: "\n".join(rows).encode("utf-8", "replace"))
    fuzz(st.tuples(lines(command), questions | st.binary(max_size=9)), check, SHARES[name])
    assert not list(place.rglob("*.part"))
    # AutoGraph removes its own when the process ends.
    assert not [path for path in temporary.iterdir() if not path.name.startswith("__autograph_generated")]
    assert (place / "run/config.json").read_bytes() == config
