"""The loop on a scripted model: its logits are read from a table by hand, so every answer can be checked by eye."""

import numpy as np
import pytest
from keras import ops

from keras_transformer import Greedy
from keras_transformer.decoding import loop
from keras_transformer.decoding.constraints import TokenConstraints

pytestmark = pytest.mark.compiled

START, END = 1, 2


def scripted(table):
    """A step function that, after token t, gives the next tokens the probabilities of row t."""
    logits = np.log(np.array(table, "float32") + 1e-9)
    return lambda ids, index, cache: (ops.take(logits, ids, axis=0), {"calls": cache["calls"] + 1})


# Rows: after token 0, 1 (start), 2 (end), 3, 4.
TABLE = [[1, 0, 0, 0, 0], [0, 0, 0.1, 0.7, 0.2], [1, 0, 0, 0, 0], [0, 0, 0.3, 0.1, 0.6], [0, 0, 0.8, 0.1, 0.1]]


def run(table=TABLE, ended=(False,), limit=6, max_length=6, min_length=0):
    cache = {"calls": ops.convert_to_tensor(0, "int32")}
    state = loop.start(cache, ops.convert_to_tensor(np.array(ended)), ops.zeros((len(ended), max_length)), START)
    state = loop.advance(scripted(table), Greedy(), TokenConstraints(min_length), state, limit, END)
    return {name: ops.convert_to_numpy(value) for name, value in state.items() if name != "cache"} | {
        "calls": int(ops.convert_to_numpy(state["cache"]["calls"]))
    }


def test_greedy_follows_the_likeliest_token_to_the_end():
    state = run()
    assert state["ids"].tolist() == [[3, 4, END, 0, 0, 0]]
    assert state["scores"] == pytest.approx([np.log(0.7 * 0.6 * 0.8)], rel=1e-4)


def test_the_loop_ends_when_every_row_has():
    assert run()["calls"] == 3
    assert run(ended=(False, False))["calls"] == 3


def test_a_row_that_has_ended_neither_grows_nor_pays():
    state = run(ended=(True, False))
    assert state["ids"].tolist() == [[0] * 6, [3, 4, END, 0, 0, 0]]
    assert state["scores"][0] == 0


def test_max_length_cuts():
    state = run(max_length=2, limit=2)
    assert state["ids"].tolist() == [[3, 4]]
    assert state["ended"].tolist() == [False]


def test_min_length_forbids_the_end():
    assert run(min_length=5)["ids"].tolist()[0][:5].count(END) == 0
    assert run(min_length=3)["ids"].tolist() == [[3, 4, 3, 4, END, 0]]  # Ties of 0.1 go to the lower id.


def test_where_no_token_is_left_the_answer_ends():
    cache = {"calls": ops.convert_to_tensor(0, "int32")}
    state = loop.start(cache, ops.convert_to_tensor(np.array([False])), ops.zeros((1, 6)), START)
    rules = TokenConstraints(no_repeat_ngram=1, forbidden_ids=(1,), min_length=4)
    state = loop.advance(scripted(TABLE), Greedy(), rules, state, 6, END)
    assert ops.convert_to_numpy(state["ids"]).tolist() == [[3, 4, 0, 0, 0, 0]]
    assert ops.convert_to_numpy(state["scores"]) == pytest.approx([np.log(0.7 * 0.6)], rel=1e-4)


def test_in_two_goes_equals_in_one():
    cache = {"calls": ops.convert_to_tensor(0, "int32")}
    state = loop.start(cache, ops.convert_to_tensor(np.array([False])), ops.zeros((1, 6)), START)
    for limit in (1, 2, 6):
        state = loop.advance(scripted(TABLE), Greedy(), TokenConstraints(), state, limit, END)
    whole = run()
    assert ops.convert_to_numpy(state["ids"]).tolist() == whole["ids"].tolist()
    assert ops.convert_to_numpy(state["scores"]).tolist() == whole["scores"].tolist()


def test_padding_is_never_chosen():
    table = [[1, 0, 0, 0, 0], [0.9, 0, 0, 0.1, 0], [1, 0, 0, 0, 0], [0.9, 0, 0.1, 0, 0], [1, 0, 0, 0, 0]]
    assert run(table=table)["ids"].tolist() == [[3, END, 0, 0, 0, 0]]
