"""Commands with the name of a released run in place of a run folder."""

import functools
import http.server
import json
import threading

import pytest

from keras_transformer.cli.main import parser
from keras_transformer.cli.released_runs import READ
from keras_transformer.data import released_runs
from release.pack_run import pack, row_of

NONE = (
    "keras-transformer: error: small_talk: not a run folder. There is no trained run of that name to download; "
    "keras-transformer demo trains one in 3 minutes.\n"
)


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves the files of a folder, and notes what it is asked for."""

    asked: list = []  # noqa: RUF012 (of all requests)

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A folder whose files are at an address on this machine, and the address."""
    folder = tmp_path / "published"
    folder.mkdir()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(Files, "asked", [])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    """The table of released runs, which is empty. Commands start in a folder without runs."""
    path = tmp_path / "released_runs.tsv"
    path.write_text("# none\n")
    monkeypatch.setattr(released_runs, "TABLE", path)
    monkeypatch.setenv("KERAS_TRANSFORMER_DATA", str(tmp_path / "둔 곳"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return path


def readers(command, name=()):
    """Yields the commands whose first argument is a run to read, with the name of this argument."""
    first = next((action for action in command._actions if not action.option_strings), None)
    if first and isinstance(first.choices, dict):
        for word, subcommand in first.choices.items():
            yield from readers(subcommand, (*name, word))
    elif first and first.metavar in READ:
        yield " ".join(name), first.dest


def test_every_command_that_reads_a_run_takes_a_name():
    assert dict(readers(parser())) == {
        **dict.fromkeys(
            ("chat", "answer", "teach", "forget", "tokenize", "attention", "average", "evaluate", "report",
             "calibrate", "export", "test", "serve", "plot refusals", "plot model"),
            "run",
        ),
        **dict.fromkeys(("compare", "plot training", "plot schedule"), "runs"),
        **dict.fromkeys(("info", "doctor"), "path"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["chat", "small_talk"],
        ["answer", "small_talk", "안녕"],
        ["info", "small_talk"],
        ["doctor", "small_talk"],
        ["compare", "small_talk", "runs/other"],
        ["plot", "training", "small_talk", "--output", "training.png"],
        ["export", "small_talk", "exported"],
        ["teach", "small_talk", "배고파", "밥 먹어요."],
    ],
)
def test_a_corpus_without_a_released_run_names_the_demonstration(call, words):
    done = call(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", NONE)


@pytest.mark.parametrize("name", ["chatbot_ko", "runs/small_talk", "smalltalk"])
def test_other_names_are_those_of_folders(call, name):
    done = call("chat", name)
    assert (done.returncode, done.stderr) == (2, f"keras-transformer: error: {name}: there is no such run folder\n")


def test_the_run_of_a_training_is_a_folder_whatever_its_name(call):
    done = call("train", "no.csv", "--run", "small_talk")
    assert done.returncode == 2
    assert "no.csv" in done.stderr


def test_a_run_that_cannot_be_downloaded_is_trained(call, published, table):
    _, address = published
    table.write_text("".join(f"{name}\t{address}/{name}.zip\t9\t{'0' * 64}\n" for name in ("small_talk", "other")))
    done = call("chat", "small_talk")
    assert (done.returncode, done.stdout) == (2, "")
    _, line = done.stderr.splitlines()
    assert line == (
        "keras-transformer: error: small_talk: the trained run cannot be downloaded (the server returned 404 File not "
        "found). Try again later; or keras-transformer demo trains the same chatbot in 3 minutes."
    )
    assert call("chat", "other").stderr.endswith("(the server returned 404 File not found). Try again later.\n")


def test_a_folder_goes_before_the_released_run_of_its_name(call, published, table, tmp_path):
    table.write_text(f"small_talk\t{published[1]}/small_talk.zip\t9\t{'0' * 64}\n")
    (tmp_path / "here/small_talk").mkdir()
    done = call("chat", "small_talk")
    assert done.returncode == 2
    assert done.stderr.endswith("config.json: missing; this is not a run folder\n")
    assert Files.asked == []


def test_a_released_run_answers_and_is_taught(call, published, table, small_run):
    folder, address = published
    pack(small_run, folder / "small_talk.zip")
    table.write_text(f"{row_of(folder / 'small_talk.zip', address)}\n")
    by_path = call("answer", small_run, "안녕하세요", "hello")
    done = call("answer", "small_talk", "안녕하세요", "hello")
    assert (done.returncode, done.stdout) == (0, by_path.stdout)
    assert done.stderr.startswith("small_talk.zip: ") and address in done.stderr
    by_name, by_path = (json.loads(call("info", run, "--json").stdout) for run in ("small_talk", small_run))
    assert by_name["run"]["id"] == by_path["run"]["id"]
    assert call("teach", "small_talk", "배고파", "국밥 어때요?").returncode == 0
    by_retrieval = call("chat", "small_talk", "--answer-by", "retrieve", stdin="배고파\n".encode())
    assert (by_retrieval.returncode, by_retrieval.stdout, by_retrieval.stderr) == (0, "국밥 어때요?\n", "")
    assert Files.asked == ["/small_talk.zip"]
