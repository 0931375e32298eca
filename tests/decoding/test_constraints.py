"""What an answer may not say, on a vocabulary of five: 0 padding, 1 start, 2 end, 3 and 4 words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_transformer import InputError
from keras_transformer.decoding.constraints import IMPOSSIBLE, TokenConstraints, repeating

END = 2
LOG = np.log(np.array([[0.1, 0.1, 0.2, 0.4, 0.2]], "float32"))


def allowed(rules, ids, index):
    ids = np.array([ids], "int32")
    return ops.convert_to_numpy(rules.apply(ops.convert_to_tensor(LOG), ids, ops.convert_to_tensor(index), END))[0]


def banned(rules, ids, index):
    return np.flatnonzero(allowed(rules, ids, index) == np.float32(IMPOSSIBLE)).tolist()


def test_padding_is_never_said():
    assert banned(TokenConstraints(), [0, 0, 0], 0) == [0]


def test_an_answer_does_not_end_before_its_least_length():
    assert banned(TokenConstraints(min_length=2), [3, 0, 0], 1) == [0, END]
    assert banned(TokenConstraints(min_length=2), [3, 3, 0], 2) == [0]


def test_forbidden_ids():
    assert banned(TokenConstraints(forbidden_ids=(1, 4)), [0, 0], 0) == [0, 1, 4]


def test_what_was_said_becomes_less_likely_by_its_power():
    probabilities = np.exp(allowed(TokenConstraints(repetition_penalty=2.0), [3, 0], 1))
    np.testing.assert_allclose(probabilities[1:], [0.1, 0.2, 0.4**2, 0.2], rtol=1e-5)


@pytest.mark.parametrize(
    ("size", "ids", "index", "expected"),
    [
        (1, [3, 4, 0, 0], 2, [3, 4]),  # No token twice.
        (2, [3, 4, 3, 0], 3, [4]),  # 3 4 was said, and 3 stands last.
        (2, [3, 4, 4, 0], 3, [4]),  # 4 4 was said.
        (2, [3, 4, 0, 0], 2, []),
        (3, [3, 4, 3, 3, 4, 0], 5, [3]),  # 3 4 3 was said, and 3 4 stand last.
        (3, [3, 4, 0], 2, []),
        (4, [3, 0, 0], 1, []),
        (9, [3, 3, 0], 2, []),
    ],
)
def test_no_run_of_tokens_comes_twice(size, ids, index, expected):
    assert banned(TokenConstraints(no_repeat_ngram=size), ids, index) == [0, *expected]


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(3, 5), max_size=8), st.integers(1, 4))
def test_what_would_repeat_is_what_python_finds(said, size):
    ids = np.zeros((1, 9), "int32")
    ids[0, : len(said)] = said
    found = ops.convert_to_numpy(repeating(ops.convert_to_tensor(ids), ops.convert_to_tensor(len(said)), size))
    runs = [said[i : i + size] for i in range(len(said) - size + 1)]
    ending = said[len(said) - size + 1 :]
    expected = {run[-1] for run in runs if len(ending) == size - 1 and run[:-1] == ending}
    assert set(found[found > 0].tolist()) == expected


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"min_length": -1}, "min_length must be 0 or more, not -1"),
        ({"repetition_penalty": 0.5}, "repetition_penalty must be 1 or more, not 0.5"),
        ({"repetition_penalty": float("nan")}, "repetition_penalty must be 1 or more, not nan"),
        ({"repetition_penalty": float("inf")}, "repetition_penalty must be 1 or more, not inf"),
        ({"forbidden_ids": (4, -5)}, r"forbidden_ids must be token ids, 0 or more, not \[4, -5\]"),
        ({"no_repeat_ngram": -2}, "no_repeat_ngram must be 0 .* or more, not -2"),
    ],
)
def test_what_cannot_be_is_refused(setting, message):
    with pytest.raises(InputError, match=message):
        TokenConstraints(**setting)
