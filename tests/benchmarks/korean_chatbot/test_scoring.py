import pandas as pd
import pytest

from benchmarks.korean_chatbot.exam import Answers, Exam
from benchmarks.korean_chatbot.scoring import BITS, best_of, difference, scored


@pytest.fixture
def exam():
    """Four questions of the test split by their hashes; the first has two right answers."""
    rows = [
        ("질문 53", "네, 그래요."), ("질문 53", "맞아요."), ("질문 54", "밥 먹어요."), ("질문 58", "잘 자요."),
        ("질문 73", "고마워요."), ("질문 1", "밥 먹어요."),
    ]  # fmt: skip
    return Exam(pd.DataFrame(rows, columns=["question", "answer"]), "test")


RIGHT = ["맞아요.", "밥 먹어요.", "잘 자요.", "고마워요."]
WRONG = ["밥 먹어요."] * 4


def test_every_answer_of_a_question_is_right(exam):
    system = scored("right", [Answers(RIGHT)], exam)
    assert system.value("chrf") == pytest.approx(100)
    assert system.value("exact_match") == 1
    assert system.value("copied") == 0.25
    assert system.value("answer_length") == (4 + 6 + 5 + 5) / 4


def test_bits_are_of_those_that_know_them(exam):
    system = scored("model", [Answers(RIGHT, [10.0, 6.0, 3.0, 1.0], [11, 6, 2, 1])], exam)
    assert system.value(BITS) == 1  # 20 bits over 20 characters.
    assert scored("copy", [Answers(RIGHT)], exam).value(BITS) is None


def test_seeds_are_scored_together_and_each(exam):
    system = scored("two", [Answers(RIGHT), Answers(WRONG)], exam)
    assert system.each["exact_match"] == [1, 0.25]
    assert system.value("exact_match") == 0.625
    assert 50 < system.value("chrf") < 100
    # Seven different words in seven; two in eight.
    assert system.distinct(1) == pytest.approx((6 / 6 + 2 / 8) / 2)


def test_intervals_hold_the_score(exam):
    system = scored("wrong", [Answers(WRONG)], exam)
    low, high = system.intervals["exact_match"]
    assert (low, high) == (0, 0.75)


def test_a_difference_is_of_the_same_questions(exam):
    right, wrong = scored("right", [Answers(RIGHT)], exam), scored("wrong", [Answers(WRONG)], exam)
    assert difference(right, right, "chrf") == (0, (0, 0))
    value, (low, high) = difference(right, wrong, "exact_match")
    assert (value, low, high) == (0.75, 0.25, 1)
    assert difference(wrong, right, "exact_match")[0] == -0.75


def test_the_best_has_the_fewest_bits_or_the_highest_of_others(exam):
    right = scored("right", [Answers(RIGHT, [8.0] * 4, [4] * 4)], exam)
    wrong = scored("wrong", [Answers(WRONG, [4.0] * 4, [4] * 4)], exam)
    without = scored("none", [Answers(WRONG)], exam)
    assert best_of([without, wrong, right], "chrf") is right
    assert best_of([without, right, wrong], BITS) is wrong
    assert best_of([without], BITS) is None
