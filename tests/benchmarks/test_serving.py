"""The load test, against a server that is a stand-in: it answers with the question, at times wrongly or not at all."""

import sys

import pytest

from benchmarks import ours, serving
from benchmarks.command import FAILED, start

pytestmark = pytest.mark.heavy

SERVER = """
import http.server, json, signal, sys

class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["questions"]
        answer = "wrong" if question == "b" else question
        found = {"error": {}} if question == "c" else {"answers": [{"answers": [{"answer": answer}]}]}
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
server.daemon_threads = True
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print(f"Loading …\\nReady: http://127.0.0.1:{server.server_port}/docs", file=sys.stderr, flush=True)
server.serve_forever()
"""


class Echoing:
    @classmethod
    def load(cls, run):
        return cls()

    def reply(self, question):
        return question


@pytest.fixture
def stand_in(tmp_path, ours_is, monkeypatch):
    ours_is(tmp_path / "ours.py", SERVER)
    monkeypatch.setattr(serving, "Chatbot", Echoing)


def test_answers_are_counted_and_the_memory_is_read(stand_in, results, tmp_path):
    options = ["--run", tmp_path, "--clients", "1", "3", "--seconds", "3", "--requests", "50", "--results", results]
    serving.main(list(map(str, options)))
    rows = [line.strip("| ").split(" | ") for line in results.read_text("utf-8").splitlines() if line.startswith("| ")]
    loads = [row for row in rows if len(row) == 6][2:]
    assert [row[0] for row in loads] == ["1", "3"]
    assert [row[4:] for row in loads] == [["0", "0"]] * 2
    memory = [row for row in rows if len(row) == 2][2:]
    assert [row[0] for row in memory] == ["0", "10", "20", "30", "40", "50"]
    assert all(int(row[1]) > 0 for row in memory)


def test_wrong_and_lost_answers_are_told_apart(stand_in):
    pairs = [(letter, letter) for letter in "abcd"]
    with serving.serving("run") as (_, address):
        found = serving.ask_all(address, 2, serving.Turns(pairs, lambda number: number < 40))
    assert (len(found.seconds), found.wrong, found.lost) == (30, 10, 10)


def test_a_server_that_does_not_start_is_a_failure_in_its_own_words(monkeypatch, capsys):
    words = "import sys; sys.exit('keras-transformer: error: no such run')"
    monkeypatch.setattr(ours, "PROGRAM", (sys.executable, "-c", words))
    monkeypatch.setattr(serving, "Chatbot", Echoing)
    with pytest.raises(SystemExit) as end:
        start(lambda: serving.main(["--run", "nowhere"]))
    assert end.value.code == FAILED
    assert capsys.readouterr().err == "benchmarks: failed: keras-transformer: error: no such run\n"
