"""Processes killed at random moments: nothing is lost, and nothing half-written is taken for whole."""

import http.server
import os
import random
import runpy
import shutil
import signal
import threading
import time

import pytest

from keras_transformer import Chatbot, Run
from keras_transformer.chat.datastore import Datastore, read_corrections
from keras_transformer.cli.main import main
from keras_transformer.data.catalog import data_home
from keras_transformer.export.loader import open_bot

from ..training.test_resuming import assert_same, contents

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="no SIGKILL here")]
QUESTIONS = ["hello", "배고파!", "good night", "아무 말", ""]


@pytest.fixture
def kill(request, start, record_property):
    """A function that has a share of the kills done: it starts something, kills it at a random moment, and checks."""
    chance, killed, began = random.Random(0), 0, time.monotonic()

    def kill(share, begin, check, seconds):
        nonlocal killed
        wanted = killed + max(1, round(share * request.config.getoption("--kills")))
        while killed < wanted:
            process, started = begin(), time.monotonic()
            process.join(chance.uniform(0, seconds))
            process.kill()
            process.join()
            if process.exitcode == -signal.SIGKILL:
                killed += 1
            else:  # It was faster than the first one.
                assert process.exitcode == 0
                seconds = min(seconds, time.monotonic() - started)
            check()

    yield kill
    name = request.node.name.removeprefix("test_")
    record_property("figures", f"{killed:7} kills   {time.monotonic() - began:6.0f} s  {name}")


def left_in(temporary):
    """What was left in the temporary folder, but for what libraries leave there.

    tensorflow-datasets leaves an empty folder for every corpus that is not prepared, and onnxruntime a file, killed or
    not. TensorFlow leaves what AutoGraph has written while a SavedModel was traced, if it is killed.
    """
    others = ("tfds", ".ses", "__autograph_generated_file")
    return [name for name in os.listdir(temporary) if not (name.endswith(others[:2]) or name.startswith(others[2]))]


def timed(process):
    """Waits for a process to succeed, and returns the seconds that it took."""
    begin = time.monotonic()
    process.join()
    assert process.exitcode == 0
    return time.monotonic() - begin


def test_training(train, kill, tmp_path, temporary):
    def check():
        if Run.exists(tmp_path / "run"):
            Run(tmp_path / "run").check_files()
        if (tmp_path / "run/summary.json").exists():  # It has ended.
            assert_same(contents(tmp_path / "run"), expected)
            shutil.rmtree(tmp_path / "run")

    seconds = timed(train(tmp_path / "never killed"))
    expected = contents(tmp_path / "never killed")
    for _ in range(4):
        kill(0.1, lambda: train(tmp_path / "run"), check, seconds)
        timed(train(tmp_path / "run"))
        assert_same(contents(tmp_path / "run"), expected)
        assert sorted(os.listdir(tmp_path / "run")) == sorted(os.listdir(tmp_path / "never killed"))
        shutil.rmtree(tmp_path / "run")
    assert left_in(temporary) == []


@pytest.mark.parametrize("kind", ["run", "html", "onnx", "saved_model"])
def test_exporting(kind, start, kill, small_run, tmp_path, temporary):
    target = tmp_path / "exported"

    def begin():
        return start(main, ["export", str(small_run), str(target), "--format", kind])

    seconds = timed(begin())
    whole = sorted(path.relative_to(target) for path in target.rglob("*"))
    shutil.rmtree(target) if target.is_dir() else target.unlink()

    def check():
        if not target.exists():
            return
        assert sorted(path.relative_to(target) for path in target.rglob("*")) == whole
        shutil.rmtree(target) if target.is_dir() else target.unlink()

    kill(0.05, begin, check, seconds)
    timed(begin())
    assert os.listdir(tmp_path) == [target.name]
    if kind != "html":
        assert open_bot(target).replies(QUESTIONS) == Chatbot.load(small_run).replies(QUESTIONS)
    assert left_in(temporary) == []


TEACHING = """
from keras_transformer.chat.datastore import Datastore
from keras_transformer.runs.run import Run

datastore = Datastore(run, Run(run).id)
with open(told, "a", encoding="utf-8") as log:
    for number in range(first, first + 10_000):
        datastore.teach(f"새 질문 {number}", f"답 {number}")
        print(number, file=log, flush=True)
"""


def test_teaching(start, kill, small_run, tmp_path, temporary):
    run, told, script = shutil.copytree(small_run, tmp_path / "run"), tmp_path / "told", tmp_path / "teach.py"
    script.write_text(TEACHING)
    told.touch()
    first = 0

    def begin():
        nonlocal first
        first += 10_000
        return start(runpy.run_path, str(script), {"run": str(run), "told": str(told), "first": first})

    def check():
        Run(run).check_files()
        taught = {
            int(one["question"].split()[-1]): one["answer"] for one in read_corrections(run / "corrections.jsonl")
        }
        said = {int(number) for number in told.read_text().split()}
        assert taught == {number: f"답 {number}" for number in taught}
        assert said <= taught.keys()
        unsaid = taught.keys() - said  # It was killed between teaching and saying so.
        assert len(unsaid) <= 1
        with told.open("a") as log:
            log.writelines(f"{number}\n" for number in unsaid)

    kill(0.2, begin, check, 1.0)
    Datastore(run, Run(run).id).teach("마지막 질문", "마지막 답")
    assert told.read_text()
    assert {*os.listdir(run)} <= {*os.listdir(small_run), "corrections.jsonl", "lock"}
    assert left_in(temporary) == []


DOWNLOADING = """
import os, sys

os.environ["KERAS_TRANSFORMER_DATA"] = data
sys.path.insert(0, place)
from keras_transformer.cli.main import main
from keras_transformer.data import catalog

catalog.BUILDERS = builders
catalog.CORPORA = (catalog.NamedCorpus(name, "ko", 4, "CC0", "https://corpora.invalid"),)
raise SystemExit(main(["data", "download", name]))
"""
ROWS = 3000


class Slow(http.server.BaseHTTPRequestHandler):
    """Sends a corpus in pieces, from where it is asked for."""

    content, protocol_version = b"", "HTTP/1.0"

    def do_GET(self):
        first = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(self.content) - first))
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(self.content) - 1}/{len(self.content)}")
        self.end_headers()
        for place in range(first, len(self.content), 4000):
            try:
                self.wfile.write(self.content[place : place + 4000])
            except OSError:  # It was killed.
                return
            time.sleep(0.02)

    def log_message(self, *_):
        pass


@pytest.fixture
def address():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/a.csv"
    server.shutdown()
    thread.join()
    server.server_close()


def test_downloading(start, kill, address, made_up_corpus, tmp_path, temporary, monkeypatch):
    text = "Q,A,label\n" + "".join(f"질문 {i},대답 {i},0\n" for i in range(ROWS))
    monkeypatch.setattr(Slow, "content", text.encode())
    corpus, script = made_up_corpus(text, address), tmp_path / "download.py"
    script.write_text(DOWNLOADING)
    kept = data_home()
    names = {"data": str(kept), "place": str(tmp_path), "builders": f"builders_of_{corpus.name}", "name": corpus.name}

    def begin():
        return start(runpy.run_path, str(script), names)

    seconds = timed(begin())
    whole = sorted(path.relative_to(kept) for path in kept.rglob("*"))
    shutil.rmtree(kept)

    def check():
        if corpus.is_prepared:
            assert sum(corpus.splits.values()) == ROWS
            shutil.rmtree(kept)

    kill(0.2, begin, check, seconds)
    timed(begin())
    assert corpus.is_prepared and sum(corpus.splits.values()) == ROWS
    assert sorted(path.relative_to(kept) for path in kept.rglob("*")) == whole
    assert left_in(temporary) == []
