import unicodedata

import pandas as pd
import pytest

from benchmarks.korean_chatbot import baselines
from benchmarks.korean_chatbot.exam import Exam

TRAIN = pd.DataFrame(
    [
        ("배고파 죽겠어", "밥 먹어요."),
        ("너무 배고파", "간식 어때요?"),
        ("오늘 날씨 어때", "맑아요."),
        ("너무 졸려", "밥 먹어요."),
        ("Good night", "Sleep well."),
    ],
    columns=["question", "answer"],
)


def test_the_most_frequent_answer_is_that_of_most_pairs():
    assert baselines.most_frequent_answer(TRAIN) == "밥 먹어요."


@pytest.mark.parametrize("variant", baselines.VARIANTS)
def test_the_nearest_question_answers(variant):
    nearest = baselines.NearestQuestions(TRAIN, variant)
    assert nearest.answers(["오늘 날씨 어때", "good NIGHT"]) == ["맑아요.", "Sleep well."]


def test_a_question_with_nothing_in_common_gets_the_most_frequent_answer():
    nearest = baselines.NearestQuestions(TRAIN.iloc[::-1], "words")
    assert nearest.answers(["xyz", "졸려"]) == ["밥 먹어요.", "밥 먹어요."]
    assert list(nearest.neighbours(["xyz"], 3)) == [[]]


def test_characters_find_what_words_miss():
    question = ["배고파요"]
    assert baselines.NearestQuestions(TRAIN, "1 to 2 characters").answers(question) == ["간식 어때요?"]
    assert list(baselines.NearestQuestions(TRAIN, "words").neighbours(question, 1)) == [[]]


def test_neighbours_come_the_nearest_first_of_equals_the_first():
    [found] = baselines.NearestQuestions(TRAIN, "words").neighbours(["너무 배고파"], 9)
    assert [text for text, _ in found] == ["간식 어때요?", "밥 먹어요.", "밥 먹어요."]
    assert found[0][1] == pytest.approx(1)
    # "너무" stands in two questions and "배고파" in two, each with a word of its own: equally near.
    assert found[1][1] == pytest.approx(found[2][1])
    [one] = baselines.NearestQuestions(TRAIN, "words").neighbours(["너무 배고파"], 1)
    assert one == found[:1]


def test_of_many_equals_the_first_ones_come_first():
    rows = [("다른 말", "딴"), *(("같은 말", f"답 {number}") for number in range(60))]
    nearest = baselines.NearestQuestions(pd.DataFrame(rows, columns=["question", "answer"]), "words")
    [found] = nearest.neighbours(["같은 말"], 3)
    assert [text for text, _ in found] == ["답 0", "답 1", "답 2"]


def test_the_composition_of_hangul_does_not_matter():
    asked = [unicodedata.normalize("NFD", "오늘 날씨 어때")]
    assert baselines.NearestQuestions(TRAIN, "words").answers(asked) == ["맑아요."]


def test_the_variant_is_chosen_by_the_chrf_of_its_answers():
    # "질문9" is of the validation split by its hash. No word of it stands in training: words can but guess.
    pairs = [("물음 하나", "몰라요."), ("물음 둘", "몰라요."), ("질문은 아홉", "맞았어요!"), ("질문9", "맞았어요!")]
    exam = Exam(pd.DataFrame(pairs, columns=["question", "answer"]), "validation")
    variant, found = baselines.choose_variant(exam)
    assert found[variant] == found["1 to 2 characters"] == pytest.approx(100)
    assert found["words"] < 50
    assert baselines.nearest(exam, variant).texts == ["맞았어요!"]
    assert baselines.most_frequent_baseline(exam).texts == ["몰라요."]
    assert baselines.most_frequent_baseline(exam).bits is None
