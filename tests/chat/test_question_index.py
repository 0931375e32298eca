import numpy as np

from keras_transformer.chat.question_index import QuestionIndex

ALIKE = round(1 / 1.35, 3)  # Equal characters, and memories that say nothing.
QUESTIONS = ["배고파", "잘 자", "hello there"]


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
    found = nearest(QuestionIndex(QUESTIONS, unknown(QUESTIONS)), ["배고파!", "hello", "漢字", ""])
    assert [one[:1] and one[0][0] for one in found] == [0, 2, [], []]
    assert 0 < found[0][0][1] < 1 / 1.35  # The share of the characters; the memories have the rest.


def test_equal_characters_and_memories_are_alike_by_one_and_of_equals_the_first_comes_first():
    memories = np.array([[-1, 0], [1, 0], [1, 0], [-1, 0]], "float32")  # Their mean is 0.
    index = QuestionIndex(["잘 자", "배고파", "배고파", "배고파"], memories)
    least = round((1 - 0.35) / 1.35, 3)
    assert nearest(index, [" 배고파 "], np.array([[1, 0]], "float32")) == [[(1, 1.0), (2, 1.0), (3, least)]]


def test_what_all_memories_have_in_common_says_nothing():
    memories = np.array([[1, 0.1], [1, -0.1]], "float32")
    index = QuestionIndex(["밥", "잠"], memories)
    index.add(["밥"], np.array([[1, -0.2]], "float32"))
    [found] = nearest(index, ["밥"], np.array([[1, 0.3]], "float32"))
    assert found == [(0, 1.0), (2, round((1 - 0.35) / 1.35, 3))]


def test_no_questions_are_near_to_nothing():
    assert nearest(QuestionIndex(QUESTIONS, unknown(QUESTIONS)), []) == []


def test_questions_are_added_with_characters_that_no_other_has():
    index = QuestionIndex(QUESTIONS, unknown(QUESTIONS))
    before = nearest(index, ["배고파!"])
    index.add(["漢字", "배고파"], unknown("ab"))
    assert len(index) == 5
    assert nearest(index, ["漢字"])[0] == [(3, ALIKE)]
    assert nearest(index, ["배고파!"])[0] == [before[0][0], (4, before[0][0][1])]


def test_hidden_questions_take_no_place_among_the_candidates():
    """Three hundred equal questions would leave none for the one that is added last."""
    index = QuestionIndex(["배고파"] * 300, unknown(range(300)))
    index.add(["배고파"], unknown("a"))
    assert nearest(index, ["배고파"], hidden=set(range(300))) == [[(300, ALIKE)]]
