"""What of the held-out parts training knows beforehand."""

from keras_transformer.data.quality.scan import Survey
from keras_transformer.data.quality.split_stats import Held, describe_split


def split(*pairs):
    return describe_split(Survey([(row, *pair, None, pair[0]) for row, pair in enumerate(pairs, 2)]).pairs)


def test_sizes():
    found = split(("안녕", "1"), ("hello", "2"), ("q11", "3"), ("질문 53", "4"), ("질문 53", "5"))
    assert (found.train, found.validation, found.test) == (2, Held(1, 0, 0), Held(2, 0, 0))
    assert (found.held, found.near_share, found.near) == (3, 0.0, ())


def test_questions_that_differ_in_spelling_only_are_found_across_parts():
    # Of these, "q11" is in validation, "질문 53" and "q 11" in test, and the others in training (see test_split.py).
    found = split(("질문53", "1"), ("q11", "2"), ("질문 53", "3"), ("Q11", "4"), ("q 11", "5"), ("Ｑ11", "6"))
    assert (found.train, found.validation, found.test) == (3, Held(1, 1, 0), Held(2, 2, 0))
    assert found.near == ((3, 5), (4, 2), (6, 5))
    assert found.near_share == 1.0


def test_likeness_within_training_or_within_a_held_out_part_is_no_leak():
    assert split(("안녕", "1"), ("안녕!", "2"), ("q11", "3"), ("q 11", "4")).near == ()


def test_questions_without_letters_are_like_no_other():
    found = split(*((mark * count, "네") for mark in "?!." for count in range(1, 40)))
    assert found.train and found.held
    assert found.near == ()


def test_answers_that_training_has():
    found = split(("안녕", "네"), ("q11", "네"), ("질문 53", "네!"))
    assert (found.validation, found.test) == (Held(1, 0, 1), Held(1, 0, 0))
