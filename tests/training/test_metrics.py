import math

import numpy as np
import pytest
from keras import ops

from keras_transformer import accuracy
from keras_transformer.training.metrics import Perplexity, TokenAccuracy


def one_hot_logits(predicted):
    return np.eye(5, dtype="float32")[np.array(predicted)] * 10


def test_padding_is_not_counted():
    value = accuracy(np.array([[1, 2, 0, 0], [3, 0, 0, 0]]), one_hot_logits([[1, 4, 0, 0], [3, 3, 3, 3]]))
    assert float(ops.convert_to_numpy(value)) == pytest.approx(2 / 3)


def test_nothing_but_padding_is_zero():
    assert float(ops.convert_to_numpy(accuracy(np.array([[0]]), one_hot_logits([[0]])))) == 0


def test_of_equally_likely_tokens_the_first_counts():
    logits = np.array([[[0, 5, 5, 1]]], "float32")
    hits = [float(ops.convert_to_numpy(accuracy(np.array([[token]]), logits))) for token in (1, 2, 3)]
    assert hits == [1, 0, 0]


def test_the_mean_goes_over_tokens_not_over_batches():
    metric = TokenAccuracy()
    metric.update_state(np.array([[1]]), one_hot_logits([[2]]))
    metric.update_state(np.array([[1, 2, 3]]), one_hot_logits([[1, 2, 3]]))
    assert float(ops.convert_to_numpy(metric.result())) == pytest.approx(3 / 4)
    metric.reset_state()
    assert float(ops.convert_to_numpy(metric.result())) == 0


def test_perplexity_of_a_fair_coin_is_two():
    metric = Perplexity()
    metric.update_state(np.array([[1, 1, 0]]), np.log(np.full((1, 3, 2), 0.5, "float32")))
    assert float(ops.convert_to_numpy(metric.result())) == pytest.approx(2)
    metric.update_state(np.array([[1]]), np.log(np.array([[[0.75, 0.25]]], "float32")))
    expected = math.exp((math.log(2) + math.log(2) + math.log(4)) / 3)
    assert float(ops.convert_to_numpy(metric.result())) == pytest.approx(expected)
