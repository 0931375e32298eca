"""The demonstration, with a corpus of thirty pairs that is trained on for one epoch."""

import io
import json

import pytest

from keras_transformer import presets
from keras_transformer.cli import demo, main
from keras_transformer.config import Config
from keras_transformer.data.catalog import PackagedCorpus

pytestmark = pytest.mark.heavy


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Where the demonstration keeps its run."""
    folder = tmp_path / "small_talk"
    folder.mkdir()
    rows = "".join(f"질문 {i}번,대답 {i}\n" for i in range(30))
    (folder / "small_talk.csv").write_text(f"question,answer\n{rows}", encoding="utf-8")
    (folder / "demo_questions.txt").write_text("질문 3번\n질문 7번\n", encoding="utf-8")
    monkeypatch.setattr(PackagedCorpus, "prepared", folder / "small_talk.csv")
    tiny = Config(vocab_size=300, num_layers=1, d_model=16, num_heads=2, dff=16, batch_size=16, epochs=1)
    monkeypatch.setitem(presets.PRESETS, "demo", tiny)
    return tmp_path / "runs/demo"


def call(run, monkeypatch, capsys, stdin=""):
    """Runs the command; returns its status, what it prints, and its errors."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
    status = main.main(["demo", "--run", str(run)])
    return (status, *capsys.readouterr())


def test_it_trains_once_shows_answers_and_chats(run, monkeypatch, capsys):
    status, out, errors = call(run, monkeypatch, capsys, "질문 3번\n")
    assert status == 0
    assert len(out.splitlines()) == 1
    summary = (run / "summary.json").read_bytes()
    assert json.loads((run / "config.json").read_text("utf-8"))["corpus"]["name"] == "small_talk"
    *_, first, answer, second, _ = errors.splitlines()
    assert (first, second) == ("  질문 3번", "  질문 7번")
    assert answer == f"    -> {out.rstrip()}"
    assert call(run, monkeypatch, capsys, "질문 3번\n") == (0, out, "")
    assert (run / "summary.json").read_bytes() == summary


def test_a_training_that_was_stopped_is_not_talked_to(run, monkeypatch, capsys):
    monkeypatch.setattr(demo, "show_answers", lambda run: pytest.fail("asked"))
    monkeypatch.setattr(main, "run_train", lambda options: main.INTERRUPTED)
    assert call(run, monkeypatch, capsys)[:2] == (130, "")
