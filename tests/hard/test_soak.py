"""Long use with random questions and settings: every answer is right, and the memory stays what it is."""

import itertools
import os
import random
import re
import statistics
import subprocess
import sys
import time

import psutil
import pytest
import requests

from keras_transformer import Beam, Chatbot, GenerationConfig, Greedy, Sampling

pytestmark = pytest.mark.slow
WARM_UP = 500  # Questions after which every program is compiled, also those of rare lengths.
PAUSE = 0.05  # Seconds between two questions.
GROWTH = 0.05  # Of the memory, from the second quarter of the time to the last.
GARBLED = ["漢字", "e\u0301", "👩‍👩‍👧‍👦", "\u202eabc", "가" * 200, "?", " ", "ㅋ" * 30, "\x1b[2J", "sdfkj"]


class Curve:
    """The memory of a process over time.

    Args:
        process: Its id.
        minutes: How long it is watched.
    """

    def __init__(self, process, minutes):
        self.process, self.seconds, self.sizes = psutil.Process(process), 60 * minutes, []
        self.begin = time.monotonic()

    def goes_on(self):
        """Notes the memory, and returns whether there is time left."""
        past = time.monotonic() - self.begin
        self.sizes.append((past, self.process.memory_info().rss))
        time.sleep(PAUSE)
        return past < self.seconds

    def quarters(self):
        """The median memory in each quarter of the time, in MB."""
        end = self.sizes[-1][0]
        groups = itertools.groupby(self.sizes, key=lambda size: min(3, int(4 * size[0] / end)))
        return [statistics.median(size for _, size in group) / 2**20 for _, group in groups]

    def check(self, record_property, what):
        quarters = self.quarters()
        text = " ".join(f"{size:.0f}" for size in quarters)
        record_property(
            "figures", f"{len(self.sizes):7,} times   {self.seconds:6.0f} s  {text} MB in each quarter  {what}"
        )
        assert quarters[3] < quarters[1] * (1 + GROWTH), quarters


@pytest.fixture
def minutes(request):
    return request.config.getoption("--soak-minutes")


def questions(chance, small_pairs):
    """Known questions, parts of them, and others."""
    known = [*small_pairs["question"]]
    while True:
        question = chance.choice(known)
        yield chance.choice(
            [
                question,
                question,
                question[: chance.randint(1, 9)],
                chance.choice(GARBLED),
                question + chance.choice(GARBLED),
            ]
        )


def strategies(chance):
    """Decoding settings that a chat may be given in turn."""
    yield from itertools.repeat(None, 3)
    for beams in (2, 4):
        yield GenerationConfig(Beam(beams), num_return=chance.randint(1, 2))
    for temperature in (0.5, 1.0):
        yield GenerationConfig(Sampling(temperature, top_k=10))
    yield GenerationConfig(Greedy(), repetition_penalty=1.3, no_repeat_ngram=2)


def test_chatting(small_run, small_pairs, minutes, record_property):
    """Answers of the same seed or without chance are the same at the beginning and at the end."""
    chance, bot = random.Random(0), Chatbot.load(small_run)
    settings, asked, before = [*strategies(chance)], questions(chance, small_pairs), {}
    for question in itertools.islice(asked, WARM_UP):
        bot.n_best([question], chance.choice(settings))
        "".join(bot.stream(question))
    curve, known = Curve(os.getpid(), minutes), dict(small_pairs.itertuples(index=False))
    while curve.goes_on():
        question, number = next(asked), chance.randrange(len(settings))
        if isinstance(settings[number] and settings[number].strategy, Sampling):
            assert all(isinstance(answer, str) for [(answer, _)] in bot.n_best([question], settings[number]))
            continue
        if settings[number] is None:
            assert "".join(bot.stream(question)) == bot.reply(question)
            assert bot.reply(question, answer_by="retrieve") in {"", *known.values()}
            assert question not in known or bot.reply(question) == known[question]
        answers = [text for text, _ in bot.n_best([question], settings[number])[0]]
        assert before.setdefault((question, number), answers) == answers
    curve.check(record_property, "chatting")


@pytest.fixture
def server(small_run):
    """The process of a server, and its address."""
    options = ["--port", "0", "--programs", "8", "--timeout", "300"]
    words = [sys.executable, "-m", "keras_transformer", "serve", small_run, *options]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        lines = iter(process.stderr.readline, "")
        yield process, next(found[1] for found in (re.search(r"Ready: (\S+)/docs", line) for line in lines) if found)
        process.terminate()


def random_settings(chance):
    """The settings of a request, most of them of no other one before."""
    strategy = chance.choice([
        {"kind": "greedy"}, {"kind": "beam", "num_beams": chance.randint(1, 6), "length_penalty": chance.random()},
        {"kind": "sample", "temperature": 0.1 + chance.random(), "seed": chance.randint(0, 9)},
    ])  # fmt: skip
    limits = {
        "min_length": chance.randint(0, 3),
        "max_length": chance.randint(3, 23),
        "no_repeat_ngram": chance.randint(0, 3),
    }
    return chance.choice(
        [{}, {}, {}, {"answer_by": "retrieve"}, {"answer_by": "hybrid"}, {"strategy": strategy, **limits}]
    )


def test_serving(server, small_pairs, minutes, record_property):
    chance, known = random.Random(0), dict(small_pairs.itertuples(index=False))
    (process, address), asked, session = server, questions(chance, small_pairs), requests.Session()

    def ask(path, **body):
        answer = session.post(address + path, json=body, timeout=300)
        assert answer.status_code == 200, answer.text
        return answer

    for question in itertools.islice(asked, WARM_UP):  # With more programs than the server compiles.
        ask("/v1/answer", questions=question, **random_settings(chance))
    curve = Curve(process.pid, minutes)
    while curve.goes_on():
        several, settings = list(itertools.islice(asked, chance.randint(1, 4))), random_settings(chance)
        found = ask("/v1/answer", questions=several, **settings).json()["answers"]
        assert [one["question"] for one in found] == several
        if not settings:
            for question, one in zip(several, found):
                assert question not in known or one["answers"][0]["answer"] == known[question]
            events = ask("/v1/stream", question=several[0]).text
            assert "event: end\ndata: " in events
        if chance.random() < 0.05:
            assert (
                session.post(
                    address + "/v1/answer", data=b"{", headers={"Content-Type": "application/json"}
                ).status_code
                == 400
            )
    curve.check(record_property, "serving")


def test_training_of_200_epochs(small_pairs, tmp_path, record_property):
    small_pairs.to_csv(tmp_path / "pairs.csv", index=False)
    options = ["--preset=small", "--num-layers=1", "--d-model=16", "--num-heads=2", "--dff=16", "--vocab-size=420"]
    options += ["--batch-size=16", "--epochs=200", "--patience=0", "--max-length=24"]
    run = tmp_path / "run"
    words = [sys.executable, "-m", "keras_transformer", "train", tmp_path / "pairs.csv", "--run", run, *options]
    with subprocess.Popen([*map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        metrics, curve = run / "metrics.csv", None
        while process.poll() is None:
            epochs = metrics.read_text().count("\n") - 1 if metrics.exists() else 0
            if epochs >= 10 and curve is None:
                curve = Curve(process.pid, 600)
            if curve and epochs < 200:
                curve.goes_on()
            time.sleep(PAUSE)
    assert process.returncode == 0
    assert metrics.read_text().count("\n") == 201
    curve.seconds = curve.sizes[-1][0]
    curve.check(record_property, "training of 200 epochs")
