"""How many answers per second does a server give, what is the latency of each client, and does its memory grow?

    python -m benchmarks.serving [--run RUN] [--clients 1 8 32] [--seconds 60] [--requests 10000]

The server is started by its command line. Clients send it questions of `small_talk` over loopback, one per request;
each client sends the next request as soon as it has received an answer. Every answer is compared with that of
`Chatbot.reply`. Without `--run`, a run with the sizes of the tutorial is trained for one epoch.
"""

import contextlib
import dataclasses
import http.client
import itertools
import json
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import urllib.parse

import numpy as np

from benchmarks import ours
from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.corpus import SMALL_TALK, Corpus
from benchmarks.programs import Failed, run_program
from benchmarks.results import publish, table
from benchmarks.streaming import resident_mb
from keras_transformer import Chatbot

NAME = "serving"
QUESTIONS = 500
LOOKS = 5  # Number of memory measurements during the requests.


@dataclasses.dataclass
class Found:
    """The results of a group of clients.

    Attributes:
        seconds: Latency in seconds of each answered request.
        wrong: Number of answers that differ from those of `Chatbot.reply`.
        lost: Number of requests without an answer.
        took: Total seconds.
    """

    seconds: list = dataclasses.field(default_factory=list)
    wrong: int = 0
    lost: int = 0
    took: float = 0.0


class Client(threading.Thread):
    """A client that sends one request after the other.

    Args:
        address: The address of the server.
        asked: An iterator of (question, answer), shared by all clients. A client ends with it.
        found: The `Found` to which the results are added.
    """

    def __init__(self, address, asked, found):
        super().__init__()
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(address).netloc, timeout=120)
        self.asked, self.found = asked, found

    def run(self):
        for question, answer in self.asked:
            begin = time.perf_counter()
            try:
                reply = self.ask(question)
            except (OSError, http.client.HTTPException, LookupError, ValueError):
                self.found.lost += 1
                self.connection.close()
                continue
            self.found.seconds.append(time.perf_counter() - begin)
            self.found.wrong += reply != answer
        self.connection.close()

    def ask(self, question):
        """Returns the server's answer to a question."""
        body = json.dumps({"questions": question}, ensure_ascii=False).encode()
        self.connection.request("POST", "/v1/answer", body, {"Content-Type": "application/json"})
        return json.loads(self.connection.getresponse().read())["answers"][0]["answers"][0]["answer"]


class Turns:
    """A thread-safe iterator over pairs that ends when `goes_on`, called with the number of taken pairs, is false."""

    def __init__(self, pairs, goes_on):
        self.pairs, self.goes_on = enumerate(itertools.cycle(pairs)), goes_on
        self.lock = threading.Lock()

    def __iter__(self):
        return self

    def __next__(self):
        with self.lock:
            number, pair = next(self.pairs)
        if not self.goes_on(number):
            raise StopIteration
        return pair


def ask_all(address, clients, asked):
    """Runs `clients` clients until the questions end. Returns their `Found`."""
    found = [Found() for _ in range(clients)]
    threads = [Client(address, asked, one) for one in found]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begin
    seconds = list(itertools.chain(*(one.seconds for one in found)))
    return Found(seconds, sum(one.wrong for one in found), sum(one.lost for one in found), took)


@contextlib.contextmanager
def serving(run):
    """Yields the process and address of a server that is ready, and stops it; raises `Failed` if this fails."""
    process = subprocess.Popen([*ours.PROGRAM, "serve", run, "--port", "0"], stderr=subprocess.PIPE, text=True)
    try:
        words = ""
        while not (ready := re.search(r"^Ready: (\S+)/docs$", words, re.MULTILINE)):
            if not (line := process.stderr.readline()):
                raise Failed(words.strip().splitlines()[-1] if words else "the server ended without a word")
            words += line
        yield process, ready[1]
        process.terminate()
        if process.wait(timeout=120):
            raise Failed(f"the server ended with status {process.returncode}")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def load_row(address, clients, pairs, seconds):
    """Returns the table row for a number of clients."""
    end = time.monotonic() + seconds
    found = ask_all(address, clients, Turns(pairs, lambda number: time.monotonic() < end))
    if not found.seconds:
        raise Failed(f"none of {found.lost} requests was answered")
    middle, late = np.percentile(found.seconds, [50, 99]) * 1e3
    speed = f"{len(found.seconds) / found.took:,.0f}"
    return [str(clients), speed, f"{middle:.1f}", f"{late:.1f}", str(found.wrong), str(found.lost)]


def memory_rows(process, address, clients, pairs, requests):
    """Returns table rows of resident MB after several numbers of requests, and the number of wrong and lost answers."""
    rows, wrong, lost = [["0", f"{resident_mb(process.pid)[0]:.0f}"]], 0, 0
    for look in range(1, LOOKS + 1):
        share = requests * look // LOOKS - requests * (look - 1) // LOOKS
        found = ask_all(address, clients, Turns(pairs, lambda number, share=share: number < share))
        wrong, lost = wrong + found.wrong, lost + found.lost
        rows.append([f"{requests * look // LOOKS:,}", f"{resident_mb(process.pid)[0]:.0f}"])
    return rows, wrong, lost


def measure(run, options):
    """Returns the two tables, and a sentence that explains the second one."""
    questions = list(dict.fromkeys(Corpus(SMALL_TALK).pairs["question"]))[:QUESTIONS]
    bot = Chatbot.load(run)
    pairs = [(question, bot.reply(question)) for question in questions]
    with serving(run) as (process, address):
        rows = []
        for clients in options.clients:
            say(f"{clients} clients, {options.seconds} s …")
            rows.append(load_row(address, clients, pairs, options.seconds))
        most = max(options.clients)
        say(f"{options.requests} requests of {most} clients …")
        memory, wrong, lost = memory_rows(process, address, most, pairs, options.requests)
    load = table(["clients", "requests/s", "p50, ms", "p99, ms", "wrong", "lost"], rows)
    about = f"Then {options.requests:,} more requests of {most} clients, {wrong} answers wrong, {lost} lost:"
    return [load, about, table(["requests", "resident, MB"], memory)]


def train(folder):
    """Trains a run with the sizes of the tutorial and returns its folder."""
    say("training a run …")
    run = pathlib.Path(folder) / "run"
    run_program(ours.train_command(SMALL_TALK, run, "tutorial", "auto", "--epochs", "1")).check()
    return run


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("--run", type=pathlib.Path, metavar="RUN", help="run to serve (default: trains one)")
    parser.add_argument(
        "--clients", type=at_least(1), nargs="+", default=[1, 8, 32], metavar="N", help="default: 1 8 32"
    )
    parser.add_argument(
        "--seconds", type=at_least(1), default=60, metavar="N", help="seconds per number of clients (default: 60)"
    )
    parser.add_argument(
        "--requests",
        type=at_least(LOOKS),
        default=10_000,
        metavar="N",
        help="requests of the memory test (default: 10000)",
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        tables = measure(options.run or train(folder), options)
    publish(options.results, NAME, "Serving", [provenance(NAME, arguments), *tables])


if __name__ == "__main__":
    start(main)
