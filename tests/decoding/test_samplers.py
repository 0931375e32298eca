"""Choosing a token, from four whose probabilities are known."""

import numpy as np
import pytest
from keras import ops

from keras_transformer import InputError
from keras_transformer.decoding.samplers import Greedy, Sampling, keep_top_k, keep_top_p

P = np.array([[0.1, 0.4, 0.2, 0.3]], "float32")


def drawn(sample, draws):
    rows = np.log(np.repeat(P, len(draws), axis=0))
    return ops.convert_to_numpy(sample.select_token(ops.convert_to_tensor(rows), np.array(draws, "float32"))).tolist()


def test_greedy_takes_the_likeliest():
    assert ops.convert_to_numpy(Greedy().select_token(ops.convert_to_tensor(np.log(P)), None)).tolist() == [1]


def test_a_draw_is_a_place_in_the_sum_of_probabilities():
    assert drawn(Sampling(), [0.0, 0.05, 0.15, 0.45, 0.55, 0.65, 0.75, 0.999]) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_as_often_as_likely():
    draws = (np.arange(1000) + 0.5) / 1000
    np.testing.assert_allclose(np.bincount(drawn(Sampling(), draws)) / 1000, P[0], atol=0.002)


def test_a_low_temperature_is_greedy():
    assert set(drawn(Sampling(temperature=0.01), [0.01, 0.5, 0.99])) == {1}


@pytest.mark.parametrize(
    ("number", "kept"), [(1, [1]), (2, [1, 3]), (3, [1, 2, 3]), (4, [0, 1, 2, 3]), (9, [0, 1, 2, 3])]
)
def test_keep_top_k(number, kept):
    assert np.flatnonzero(ops.convert_to_numpy(keep_top_k(ops.convert_to_tensor(P), number))[0]).tolist() == kept


@pytest.mark.parametrize(
    ("share", "kept"), [(0.01, [1]), (0.39, [1]), (0.41, [1, 3]), (0.71, [1, 2, 3]), (0.95, [0, 1, 2, 3])]
)
def test_keep_top_p(share, kept):
    assert np.flatnonzero(ops.convert_to_numpy(keep_top_p(ops.convert_to_tensor(P), share))[0]).tolist() == kept


@pytest.mark.parametrize("temperature", [1e-37, 1e30])
def test_no_temperature_draws_what_is_impossible(temperature):
    rows = ops.convert_to_tensor(np.array([[-1e9, -1.0, -2.0, -1e9]], "float32"))
    for draw in (0.0, 0.5, 0.9999):
        token = Sampling(temperature).select_token(rows, np.array([draw], "float32"))
        assert int(ops.convert_to_numpy(token)[0]) in (1, 2)


def test_what_is_left_out_is_never_drawn():
    assert set(drawn(Sampling(top_k=2), np.linspace(0, 0.999, 50))) == {1, 3}
    assert set(drawn(Sampling(top_p=0.5), np.linspace(0, 0.999, 50))) == {1, 3}


def test_the_last_draw_there_is_takes_a_token_that_can_be():
    almost_one = np.nextafter(np.float32(1), np.float32(0))
    for seed in range(50):
        probabilities = np.random.default_rng(seed).dirichlet(np.ones(300))
        probabilities[[0, -1]] = 0
        with np.errstate(divide="ignore"):
            rows = np.maximum(np.log(probabilities), -1e9)[None].astype("float32")
        for draw in (0.0, almost_one):
            token = Sampling().select_token(ops.convert_to_tensor(rows), np.array([draw], "float32"))
            assert 0 < int(ops.convert_to_numpy(token)[0]) < 299


def test_the_same_seed_draws_the_same_for_every_question():
    drawn = Sampling(seed=3).draw(questions=2, num_return=3, max_length=4)
    assert drawn.shape == (6, 4)
    assert drawn[:3].tolist() == drawn[3:].tolist() == Sampling(seed=3).draw(1, 3, 4).tolist()
    assert len(set(drawn[:3].ravel().tolist())) == 12
    assert Sampling(seed=4).draw(1, 1, 4).tolist() != Sampling(seed=3).draw(1, 1, 4).tolist()


def test_without_a_seed_every_draw_is_another():
    assert len(set(Sampling().draw(2, 2, 4).ravel().tolist())) == 16
    assert Sampling().draw(1, 1, 4).tolist() != Sampling().draw(1, 1, 4).tolist()


def test_a_seed_needs_no_program_of_its_own():
    assert Sampling(seed=1) == Sampling(seed=2) != Sampling(temperature=0.5)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"temperature": 0}, "temperature must be above 0, not 0"),
        ({"temperature": 1e-39}, "temperature must be above 0, not 1e-39"),
        ({"temperature": float("nan")}, "temperature must be above 0, not nan"),
        ({"temperature": float("inf")}, "temperature must be above 0, not inf"),
        ({"seed": -1}, "seed must be 0 or more, not -1"),
        ({"top_k": -1}, "top_k must be 0 .* or more, not -1"),
        ({"top_p": 0}, "top_p must be above 0 and at most 1, not 0"),
        ({"top_p": 1.5}, "top_p must be above 0 and at most 1, not 1.5"),
    ],
)
def test_what_cannot_be_is_refused(setting, message):
    with pytest.raises(InputError, match=message):
        Sampling(**setting)
