import numpy as np

from keras_transformer.data.quality.scan import CorpusScan
from keras_transformer.data.quality.statistics import (
    Held,
    Lengths,
    describe_lengths,
    describe_split,
    histogram,
    quantile,
)


def test_quantiles_are_lengths_that_occur():
    lengths = np.arange(1, 201)
    assert describe_lengths(lengths, lengths + 1) == Lengths(100, 190, 198, 200, 201)
    assert quantile(np.array([1, 1000]), 0.5) == 1
    assert quantile(np.array([1, 1000]), 0.51) == 1000


def test_the_first_of_the_longest_is_named():
    assert describe_lengths(np.array([1, 5, 5]), np.array([2, 3, 4])).row == 3


def test_every_length_is_in_one_bar():
    lengths = np.array([1] * 50 + [10] * 30 + [20] * 19 + [500])
    assert histogram(lengths, np.array([3] * 100)) == (
        (1, 2, 50, 0), (3, 4, 0, 100), (5, 6, 0, 0), (7, 8, 0, 0), (9, 10, 30, 0), (11, 12, 0, 0), (13, 14, 0, 0),
        (15, 16, 0, 0), (17, 18, 0, 0), (19, 20, 19, 0), (21, 500, 1, 0),
    )  # fmt: skip


def test_no_bar_goes_beyond_the_longest():
    assert histogram(np.array([1, 2, 2])) == ((1, 1, 1), (2, 2, 2))
    assert histogram(np.array([12])) == ((1, 2, 0), (3, 4, 0), (5, 6, 0), (7, 8, 0), (9, 10, 0), (11, 12, 1))


def split(*pairs):
    return describe_split(CorpusScan([(row, *pair, None, pair[0]) for row, pair in enumerate(pairs, 2)]).pairs)


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
