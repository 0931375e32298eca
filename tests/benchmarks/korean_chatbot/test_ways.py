import numpy as np
import pandas as pd
import pytest

from benchmarks.korean_chatbot import ways
from benchmarks.korean_chatbot.baselines import NearestQuestions
from benchmarks.korean_chatbot.exam import Exam
from benchmarks.korean_chatbot.ways import WAYS, Asker
from keras_transformer import Chatbot, evaluate

PAIRS = pd.DataFrame(
    [("질문 53", "밥 먹어요."), ("질문 1", "밥을 먹어요."), ("물음", "몰라요.")], columns=["question", "answer"]
)
FOUND = [("네.", -1.0), ("밥 먹어요!", -2.0), ("밥 먹어요~", -3.0), ("", 0.0)]


class Bot:
    """Finds the same answers to every question; `calls` tells how often it was asked."""

    def __init__(self):
        self.calls = []

    def n_best(self, questions, generation):
        self.calls.append((generation.strategy, generation.num_return))
        return [FOUND[: generation.num_return] for _ in questions]


@pytest.fixture
def bot(monkeypatch):
    bot = Bot()
    monkeypatch.setattr(Chatbot, "load", lambda run: bot)
    monkeypatch.setattr(Asker, "_likelihood", ([9.0], [3]))
    return bot


@pytest.fixture
def asker(bot):
    exam = Exam(PAIRS, "test")
    return Asker("run", exam, NearestQuestions(exam.train, "1 to 2 characters"), lambda: "reverse run")


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("greedy", "네."),
        ("beam 4, length penalty 0", "네."),
        ("8 of beam 8, by agreement", "네."),
        ("8 of beam 8, by neighbours", "밥 먹어요!"),
        ("32 samples, by agreement", "밥 먹어요!"),
        ("32 samples at temperature 0.7 and neighbours' answers, by agreement", "밥을 먹어요."),
    ],
)
def test_each_way_picks_by_its_own_rule(asker, name, answer):
    given = asker.answers(WAYS[name])
    assert given.texts == [answer]
    assert (given.bits, given.characters) == ([9.0], [3])


def test_the_reverse_model_is_asked_for_the_question(asker, monkeypatch):
    asked = []
    known = {"네.": -9.0, "밥 먹어요!": -9.0, "밥 먹어요~": -1.0}

    def log_probabilities(bot, questions, candidates):
        asked.append((questions, candidates))
        return [[known[text] for text, _ in found] for found in candidates]

    monkeypatch.setattr(ways, "log_probabilities", log_probabilities)
    assert asker.answers(WAYS["8 of beam 8, by the reverse model"]).texts == ["밥 먹어요~"]
    assert asked == [(["질문 53"], [FOUND[:3]])]  # Not of what a search did not find.


def test_the_memory_moves_the_nearest_question(asker, bot, monkeypatch):
    """The question "물음" shares no character with the one that is asked."""
    way = WAYS["the nearest question's answer, by TF-IDF and memory"]
    far = np.array([[1.0 if question == "물음" else -1.0 for question in asker._nearest.questions]])
    monkeypatch.setattr(ways.memory, "cosines", lambda *given: 0 * far)
    assert asker.answers(way).texts == ["밥을 먹어요."]
    monkeypatch.setattr(ways.memory, "cosines", lambda *given: far)
    assert asker.answers(way).texts == ["몰라요."]
    monkeypatch.setattr(ways.memory, "cosines", lambda *given: 0 * far - 1.0)
    assert asker.answers(way).texts == ["밥을 먹어요."]
    assert bot.calls == []  # Nothing is composed.


def test_candidates_are_searched_once_for_all_ways_that_choose_among_them(asker, bot):
    for name in WAYS:
        if "reverse" not in name and "memory" not in name:
            asker.answers(WAYS[name])
    assert len(bot.calls) == len(set(bot.calls)) == 8


def test_what_a_way_depends_on_tells_ways_apart():
    told = [str(way.describe()) for way in WAYS.values()]
    assert len(set(told)) == len(WAYS)
    assert " at 0x" not in "".join(told)


def test_bits_are_those_of_evaluate(small_run, small_pairs):
    pairs = small_pairs.drop_duplicates("question").head(20)
    exam = Exam(pd.concat([PAIRS, pairs]), "test")
    asker = Asker(small_run, exam, None, None)
    given = asker.answers(WAYS["greedy"])
    rows = [(question, text) for question, texts in zip(exam.questions, exam.references) for text in texts]
    found = evaluate(small_run, pd.DataFrame(rows, columns=["question", "answer"]))
    assert sum(given.bits) / sum(given.characters) == pytest.approx(found["bits_per_char"])


def test_the_log_probability_of_a_question_is_that_of_it_alone(small_run):
    bot = Chatbot.load(small_run)
    candidates = [[("안녕하세요", 0.0), ("hello", 0.0)], [("hello", 0.0), ("hello", -1.0)]]
    (first, second), (third, fourth) = ways.log_probabilities(bot, ["반가워요!", "Hi there!"], candidates)
    # The run answers "안녕하세요" with "반가워요!" and "hello" with "Hi there!".
    assert first > second + 3
    assert third == fourth > second
    [[(_, score)]] = bot.n_best(["안녕하세요"])
    assert first == pytest.approx(score, abs=1e-3)
