import numpy as np
import pytest

from keras_transformer.evaluation.bootstrap import difference, intervals
from keras_transformer.evaluation.text_metrics import chrf, mean


def test_the_interval_of_a_mean_is_that_of_the_binomial_distribution():
    low, high = intervals({"share": mean([1, 0] * 50)})["share"]
    # 100 coins: a standard deviation of 0.05, and 1.96 of them to either side.
    assert (low, high) == pytest.approx((0.402, 0.598), abs=0.011)


def test_scores_that_are_equal_everywhere_have_no_width():
    assert intervals({"share": mean([1] * 5)}) == {"share": (1.0, 1.0)}


def test_the_same_questions_give_the_same_interval_around_the_score():
    references = [[f"answer number {i}"] for i in range(20)]
    answers = [f"answer {'number' if i % 2 else 'letter'} {i}" for i in range(20)]
    score = chrf(answers, references)
    low, high = intervals({"chrf": score})["chrf"]
    assert low < score.value < high
    assert intervals({"chrf": score, "other": mean(np.arange(20))})["chrf"] == (low, high)


def test_a_difference_is_seen_on_the_same_questions():
    """Whatever is drawn, the second is better by one everywhere; of separate draws the widths would add up."""
    worse = np.arange(100)
    assert difference(mean(worse + 1), mean(worse)) == (1.0, pytest.approx((1.0, 1.0)))


def test_the_interval_of_a_difference_is_that_of_the_binomial_distribution():
    value, (low, high) = difference(mean([1, 0] * 50), mean([0] * 100))
    assert value == 0.5 and (low, high) == pytest.approx((0.402, 0.598), abs=0.011)
    value, (low, high) = difference(mean([0] * 100), mean([1, 0] * 50))
    assert value == -0.5 and (low, high) == pytest.approx((-0.598, -0.402), abs=0.011)
