"""The commands `teach` and `forget`, and what `answer`, `info` and `export` say then."""

import io
import json
import shutil

import pytest

from keras_transformer.chat.answering import Answering
from keras_transformer.cli.info import about_folder, in_lines
from keras_transformer.cli.main import main
from keras_transformer.runs.lock import locked


@pytest.fixture
def run(small_run, tmp_path):
    shutil.copytree(small_run, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def call(capsys, monkeypatch):
    """A function that calls the command, with lines of standard input, and returns its status, output and errors."""

    def make(*words, stdin=""):
        class Input:
            buffer = io.BytesIO(stdin.encode())

        monkeypatch.setattr("sys.stdin", Input)
        return main([*map(str, words)]), *capsys.readouterr()

    return make


def refused(call, *words):
    status, out, errors = call(*words)
    assert (status, out) == (2, "")
    return errors.strip().splitlines()[-1].removeprefix("keras-transformer: error: ")


def test_what_is_taught_answers_and_is_forgotten_again(run, call, tmp_path):
    asked = {"stdin": "hello\n잘 자\n"}
    before = call("answer", run, **asked)
    golden = tmp_path / "golden.jsonl"
    taught = call("teach", run, "hello", "Howdy!", "--golden", golden)
    assert taught == (0, "Taught: hello → Howdy!  (before: Hi there!)\n", "")
    assert json.loads(golden.read_text()) == {"question": "hello", "answers": ["Howdy!"]}
    assert call("answer", run, **asked) == (0, "Howdy!\n좋은 꿈 꾸세요.\n", "")
    assert call("test", run, golden)[0] == 0
    forgotten = call("forget", run, "hello")
    assert forgotten == (0, "Forgotten: hello → Howdy!  (now: Hi there!)\n", "")
    assert call("answer", run, **asked) == before


def test_answers_with_their_sources(run, call):
    status, out, _ = call("answer", run, "--cite", "--answer-by", "retrieve", stdin="hello\n\n")
    answer, *sources, blank = out.splitlines()
    assert (status, answer, blank) == (0, "Hi there!", "")
    assert sources[0].startswith("  [1.00] pair ")
    assert sources[0].endswith(": hello")
    out = call("answer", run, "--cite", stdin="hello\n")[1].splitlines()
    assert out[:2] == ["Hi there!", "  generated; nearest:"]
    assert len(out) == 5
    found = json.loads(call("answer", run, "--json", "--answer-by", "retrieve", stdin="hello\n")[1])
    [answer] = found["answers"]
    assert (answer["answer"], answer["score"], answer["answered_by"]) == ("Hi there!", None, "retrieve")
    assert set(answer["sources"][0]) == {"question", "answer", "file", "row", "similarity"}


def test_what_cannot_be_is_one_line(run, call, tmp_path, monkeypatch):
    assert refused(call, "forget", run, "who?").startswith("forget: no exchange has the question 'who?'")
    assert refused(call, "teach", run, " ", "a") == "the question is blank. Write one."
    assert refused(call, "teach", run, "a", "\udcb0") == "the answer is not UTF-8"
    assert refused(call, "teach", tmp_path / "no", "a", "b") == f"{tmp_path / 'no'}: there is no such run folder"
    (tmp_path / "golden.jsonl").write_text("[]\n")
    assert "row 1: not a JSON object" in refused(call, "teach", run, "a", "b", "--golden", tmp_path / "golden.jsonl")
    assert not (run / "corrections.jsonl").exists()
    monkeypatch.setattr("keras_transformer.chat.datastore.WAIT", 0)
    with locked(run):
        assert "another training" in refused(call, "teach", run, "a", "b")
    message = "--beam is for generated answers: leave it out, or --answer-by retrieve"
    assert refused(call, "answer", run, "--beam", "2", "--answer-by", "retrieve") == message
    (run / "datastore.jsonl").unlink()
    for command in (["teach", run, "a", "b"], ["forget", run, "a"]):
        assert refused(call, *command) == f"{run}: this run has no datastore to correct. Train it again to get one."
    (run / "summary.json").rename(run / "later.json")
    message = f"{run}: training has not finished. Run the same train command to finish it."
    assert refused(call, "teach", run, "a", "b") == message
    (run / "later.json").rename(run / "summary.json")
    for command in (["answer", run], ["chat", run], ["evaluate", run], ["compare", run, run]):
        message = f"{run}: has no datastore to retrieve from. Train it again, or answer by generate."
        assert refused(call, *command, "--answer-by", "retrieve") == message


@pytest.mark.slow
def test_info_and_exports_say_how_the_run_answers(run, call, tmp_path):
    call("teach", run, "hello", "Howdy!")
    call("forget", run, "bye")
    Answering("retrieve", 0.5, {"generate": 10.0, "retrieve": 20.55}, 7).save(run)
    about = about_folder(run)
    count = about["answering"]["exchanges"]
    assert about["answering"] == {
        "by": "retrieve", "similarity": 0.5, "chrf": {"generate": 10.0, "retrieve": 20.55}, "questions": 7,
        "exchanges": count, "taught": 1, "forgotten": 1,
    }  # fmt: skip
    line = f"answers   by retrieve (chrF: generate 10.0, retrieve 20.6); {count} exchanges, 1 taught, 1 forgotten"
    assert line in in_lines(about).splitlines()
    out = call("export", run, tmp_path / "greedy", "--max-length", 5)[1]
    assert out.endswith("; answers by generate only; the run answers by retrieve\n")
    assert "answers   by generate only; the run answers by retrieve" in in_lines(about_folder(tmp_path / "greedy"))
    out = call("export", run, tmp_path / "onnx", "--format", "onnx")[1]
    assert out.endswith("; answers by retrieve, as the run does\n")
    assert "answers   by retrieve, as the run does" in in_lines(about_folder(tmp_path / "onnx"))
    assert call("answer", run, stdin="잘 자\n")[1] == "좋은 꿈 꾸세요.\n"
