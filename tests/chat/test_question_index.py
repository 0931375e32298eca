import numpy as np
import pytest

from keras_transformer.chat import question_index
from keras_transformer.chat.question_index import QuestionIndex

ALIKE = round(1 / 1.35, 3)  # Equal characters, and memories that say nothing.
QUESTIONS = ["배고파", "잘 자", "hello there"]
BLANK = ["", "", ""]  # Answers that say nothing.


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """So that memories have their whole weight in an index of one question."""
    monkeypatch.setattr(question_index, "MANY", 1)


def unknown(questions):
    """Memories that say nothing."""
    return np.zeros((len(questions), 2), "float32")


def nearest(index, questions, memories=None, **settings):
    memories = unknown(questions) if memories is None else memories
    return [
        [(int(number), round(float(similarity), 3)) for number, similarity in zip(*found)]
        for found in index.nearest(questions, memories, **settings)
    ]


def test_the_nearest_of_three_questions():
    found = nearest(QuestionIndex(QUESTIONS, BLANK, unknown(QUESTIONS)), ["배고파!", "hello", "漢字", ""])
    assert [one[:1] and one[0][0] for one in found] == [0, 2, [], []]
    assert 0 < found[0][0][1] < 1 / 1.35  # The share of the characters; the memories have the rest.


def test_equal_characters_and_memories_are_alike_by_one_and_of_equals_the_first_comes_first():
    memories = np.array([[-1, 0], [1, 0], [1, 0], [-1, 0]], "float32")  # Their mean is 0.
    index = QuestionIndex(["잘 자", "배고파", "배고파", "배고파"], ["", *BLANK], memories)
    least = round((1 - 0.35) / 1.35, 3)
    assert nearest(index, [" 배고파 "], np.array([[1, 0]], "float32")) == [[(1, 1.0), (2, 1.0), (3, least)]]


def test_what_all_memories_have_in_common_says_nothing():
    memories = np.array([[1, 0.1], [1, -0.1]], "float32")
    index = QuestionIndex(["밥", "잠"], ["", ""], memories)
    index.add(["밥"], [""], np.array([[1, -0.2]], "float32"))
    [found] = nearest(index, ["밥"], np.array([[1, 0.3]], "float32"))
    assert found == [(0, 1.0), (2, round((1 - 0.35) / 1.35, 3))]


def test_no_questions_are_near_to_nothing():
    assert nearest(QuestionIndex(QUESTIONS, BLANK, unknown(QUESTIONS)), []) == []


def test_questions_are_added_with_characters_that_no_other_has():
    index = QuestionIndex(QUESTIONS, BLANK, unknown(QUESTIONS))
    before = nearest(index, ["배고파!"])
    index.add(["漢字", "배고파"], ["", ""], unknown("ab"))
    assert len(index) == 5
    assert nearest(index, ["漢字"])[0] == [(3, ALIKE)]
    assert nearest(index, ["배고파!"])[0] == [before[0][0], (4, before[0][0][1])]


def test_hidden_questions_take_no_place_among_the_candidates():
    """Three hundred equal questions would leave none for the one that is added last."""
    index = QuestionIndex(["배고파"] * 300, [""] * 300, unknown(range(300)))
    index.add(["배고파"], [""], unknown("a"))
    assert nearest(index, ["배고파"], hidden=set(range(300))) == [[(300, ALIKE)]]


def test_a_question_in_the_words_of_an_answer_finds_it():
    index = QuestionIndex(["반품되나요", "어디예요"], ["물건을 돌려보내세요", "서울이에요"], unknown("ab"))
    [[(number, similarity)]] = nearest(index, ["물건 돌려보내기"])
    assert number == 0 and 0 < similarity < 0.3 / 1.35


def test_of_two_equal_questions_the_one_with_the_likelier_answer_is_nearest():
    index = QuestionIndex(["뭐 해", "뭐 해"], ["잠자요", "밥 먹어요"], unknown("ab"))
    assert [number for number, _ in nearest(index, ["뭐 먹어"])[0]] == [1, 0]


def test_memories_weigh_less_where_few_questions_have_taught_the_encoder(monkeypatch):
    monkeypatch.setattr(question_index, "MANY", 6)
    memories = np.array([[-1, 0], [1, 0], [0, 0]], "float32")
    index = QuestionIndex(QUESTIONS, BLANK, memories)
    assert index.memory_weight == 0.35 / 2
    index.add(["졸려"], [""], unknown("a"))
    assert index.memory_weight == 0.35 / 2
