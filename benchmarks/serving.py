"""How many answers a second does a server give, how long does each client wait, and does its memory grow?

    python -m benchmarks.serving [--run RUN] [--clients 1 8 32] [--seconds 60] [--requests 10000]

The server is started by its command line and asked over loopback by clients that each ask again as soon as they have
their answer, questions of `small_talk`, one a request. Every answer is compared with `Chatbot.reply`. Without
`--run`, a run of the tutorial's sizes is trained for one epoch.
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
LOOKS = 5  # At the memory, while it is asked for.


@dataclasses.dataclass
class Found:
    """What clients saw.

    Attributes:
        seconds: Of each request that was answered.
        wrong: Answers that are not those of `Chatbot.reply`.
        lost: Requests without an answer.
        took: Seconds of it all.
    """

    seconds: list = dataclasses.field(default_factory=list)
    wrong: int = 0
    lost: int = 0
    took: float = 0.0


class Client(threading.Thread):
    """Asks one question after the other.

    Args:
        address: The server's.
        asked: An iterator of pairs, question and answer, which all clients share; at its end they end.
        found: The `Found` to add to.
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
        """The server's answer."""
        body = json.dumps({"questions": question}, ensure_ascii=False).encode()
        self.connection.request("POST", "/v1/answer", body, {"Content-Type": "application/json"})
        return json.loads(self.connection.getresponse().read())["answers"][0]["answers"][0]["answer"]


class Turns:
    """Pairs one after the other, for several threads, until `goes_on` of the number taken says no."""

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
    """What so many clients see until the questions end."""
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
    """The process and the address of a server that is ready; ends it, and raises `Failed` if that goes wrong."""
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
    """The table's row of so many clients."""
    end = time.monotonic() + seconds
    found = ask_all(address, clients, Turns(pairs, lambda number: time.monotonic() < end))
    if not found.seconds:
        raise Failed(f"none of {found.lost} requests was answered")
    middle, late = np.percentile(found.seconds, [50, 99]) * 1e3
    speed = f"{len(found.seconds) / found.took:,.0f}"
    return [str(clients), speed, f"{middle:.1f}", f"{late:.1f}", str(found.wrong), str(found.lost)]


def memory_rows(process, address, clients, pairs, requests):
    """Resident MB after some numbers of requests, rows of a table; and the wrong and the lost answers among them."""
    rows, wrong, lost = [["0", f"{resident_mb(process.pid)[0]:.0f}"]], 0, 0
    for look in range(1, LOOKS + 1):
        share = requests * look // LOOKS - requests * (look - 1) // LOOKS
        found = ask_all(address, clients, Turns(pairs, lambda number, share=share: number < share))
        wrong, lost = wrong + found.wrong, lost + found.lost
        rows.append([f"{requests * look // LOOKS:,}", f"{resident_mb(process.pid)[0]:.0f}"])
    return rows, wrong, lost


def measure(run, options):
    """The two tables, and in a sentence what is behind the second."""
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
    """A run of the tutorial's sizes."""
    say("training a run …")
    run = pathlib.Path(folder) / "run"
    run_program(ours.train_command(SMALL_TALK, run, "tutorial", "auto", "--epochs", "1")).check()
    return run


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("--run", type=pathlib.Path, metavar="RUN", help="the run to serve (default: one made for it)")
    parser.add_argument(
        "--clients", type=at_least(1), nargs="+", default=[1, 8, 32], metavar="N", help="default: 1 8 32"
    )
    parser.add_argument("--seconds", type=at_least(1), default=60, metavar="N", help="of each load (default: 60)")
    parser.add_argument(
        "--requests", type=at_least(LOOKS), default=10_000, metavar="N", help="to watch the memory (default: 10000)"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        tables = measure(options.run or train(folder), options)
    publish(options.results, NAME, "Serving", [provenance(NAME, arguments), *tables])


if __name__ == "__main__":
    start(main)
