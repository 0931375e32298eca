"""What a calibration asks, of a chatbot that is a stand-in here: tests/test_confidence.py has real ones."""

import pytest

from keras_transformer import Confidence, GenerationConfig, InputError, calibrate
from keras_transformer.evaluation import calibrate as module
from keras_transformer.evaluation.calibrate import draw, without_duplicates


@pytest.fixture
def asked(monkeypatch):
    """The questions that a chatbot is asked, which scores each by its length."""
    questions = []

    class Bot:
        def way(self, answer_by, generation):
            return "generate"

        def n_best(self, texts, generation):
            questions.append(texts)
            return [[("답", -float(len(text)))] for text in texts]

        def pieces(self, texts):
            return [1 / len(text) for text in texts]

    monkeypatch.setattr(module.Chatbot, "load", lambda run: Bot())
    monkeypatch.setattr(Confidence, "save", lambda confidence, run: None)
    return questions


def test_each_question_is_asked_once_and_its_score_kept(small_run, asked):
    questions = ["셋 셋 셋", "하나", " 하나", "둘둘둘", "", " "]
    found = calibrate(small_run, questions, generation=GenerationConfig(max_length=7))
    assert asked[-1] == ["셋 셋 셋", "하나", "둘둘둘"]
    assert found.in_domain == ((-5, 1 / 5), (-2, 1 / 2), (-3, 1 / 3))
    assert found.settings["max_length"] == 7
    assert found.out_of_domain["random letters"] == found.in_domain
    assert len(asked) == 1 + len(found.out_of_domain)


def test_of_many_questions_some_are_drawn_evenly(monkeypatch, small_run, asked):
    monkeypatch.setattr(module, "MAX_QUESTIONS", 50)
    monkeypatch.setattr(module, "NUM_OUT_OF_DOMAIN", 20)
    found = calibrate(small_run, [f"{i:04d}" for i in range(1000)])
    assert (len(found.in_domain), len(found.out_of_domain["random letters"])) == (50, 20)
    numbers = [int(text) for text in asked[-1]]
    assert numbers == sorted(set(numbers))
    assert 400 < sum(numbers) / 50 < 600


def test_questions_are_compared_as_the_split_compares_them():
    assert without_duplicates(["한", " 한 ", "\u1112\u1161\u11ab", "하나", "\t"]) == ["한", "하나"]
    assert draw([1, 2], 2) == [1, 2]


def test_without_a_question_nothing_is_written(small_run):
    with pytest.raises(InputError, match="there is no question to calibrate on"):
        calibrate(small_run, ["", " "])
    assert not (small_run / "confidence.json").exists()
