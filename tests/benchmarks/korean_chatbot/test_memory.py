import numpy as np
import pytest

from benchmarks.korean_chatbot import memory
from keras_transformer import Chatbot


@pytest.fixture(scope="module")
def bot(small_run):
    return Chatbot.load(small_run)


def test_a_question_is_the_nearest_to_itself(bot):
    questions = ["안녕하세요", "hello", "what is your name"]
    found = memory.cosines(bot, questions, questions)
    assert np.diag(found) == pytest.approx(1, abs=1e-5)
    assert (found.argmax(axis=1) == [0, 1, 2]).all()
    assert found == pytest.approx(found.T, abs=1e-5)


def test_those_beside_it_do_not_matter(bot, monkeypatch):
    """Neither how many there are nor how long they are: padding is not counted."""
    many = ["hello", "안녕하세요 " * 8, "what is your name", "hi"]
    together = memory.mean_memories(bot, many)
    monkeypatch.setattr(memory, "BATCH", 1)
    assert memory.mean_memories(bot, many) == pytest.approx(together, abs=1e-5)
    for text, expected in zip(many, together, strict=True):
        assert memory.mean_memories(bot, [text])[0] == pytest.approx(expected, abs=1e-5)
