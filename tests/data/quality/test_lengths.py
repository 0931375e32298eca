"""How long texts are."""

import numpy as np

from keras_transformer.data.quality.lengths import Lengths, describe_lengths, histogram, quantile


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
