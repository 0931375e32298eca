import math

import numpy as np
import pytest
from keras import ops

from keras_transformer import loss_function
from keras_transformer.training.losses import TokenLoss

# Probabilities 1/2, 1/4 and 1/4 of three tokens.
LOGITS = np.log([0.5, 0.25, 0.25]).astype("float32")


def loss(targets, dtype="float32"):
    targets = np.array(targets)
    logits = ops.cast(np.broadcast_to(LOGITS, (*targets.shape, 3)), dtype)
    return float(ops.convert_to_numpy(loss_function(targets, logits)))


def test_it_is_the_mean_over_tokens():
    assert loss([[1, 2]]) == pytest.approx(math.log(4))


@pytest.mark.parametrize("targets", [[[1, 0, 0, 0]], [[1, 0], [0, 0]], [[1, 2, 2, 0], [1, 0, 0, 0]]])
def test_padding_counts_neither_in_the_sum_nor_in_the_number(targets):
    assert loss(targets) == pytest.approx(math.log(4))


def test_every_token_weighs_the_same_in_a_token_loss():
    token_loss = TokenLoss(tokens_per_batch=4)
    short, long = np.array([[1, 0]]), np.array([[1, 2, 1]])
    logits = {n: np.broadcast_to(LOGITS, (1, n, 3)) for n in (2, 3)}
    assert float(ops.convert_to_numpy(token_loss(short, logits[2]))) == pytest.approx(math.log(4) / 4)
    assert float(ops.convert_to_numpy(token_loss(long, logits[3]))) == pytest.approx(3 * math.log(4) / 4)
    assert TokenLoss.from_config(token_loss.get_config()).tokens_per_batch == 4


def test_smoothing_gives_every_token_an_equal_share():
    """The right token keeps 0.7 + 0.1 and has probability 1/4; the others, of 1/2 and 1/4, have 0.1; padding, none."""
    token_loss = TokenLoss(tokens_per_batch=1, label_smoothing=0.3)
    logits = np.broadcast_to(LOGITS, (1, 2, 3))
    value = float(ops.convert_to_numpy(token_loss(np.array([[1, 0]]), logits)))
    assert value == pytest.approx(0.8 * math.log(4) + 0.1 * math.log(2) + 0.1 * math.log(4))
    assert TokenLoss.from_config(token_loss.get_config()).label_smoothing == 0.3


def test_nothing_but_padding_is_zero():
    assert loss([[0, 0]]) == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_logits_are_summed_in_float32(dtype):
    assert loss(np.ones((64, 64), int), dtype) == pytest.approx(math.log(4), rel=1e-2)


def test_sample_weights_are_refused_instead_of_being_ignored():
    with pytest.raises(ValueError, match="does not support sample weights"):
        TokenLoss(1)(np.array([[1]]), LOGITS[None, None], sample_weight=np.ones(1))
