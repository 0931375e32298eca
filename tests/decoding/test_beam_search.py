"""Beam search on scripted models, against every answer there is."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_transformer import InputError
from keras_transformer.decoding import beam_search
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.constraints import TokenConstraints
from keras_transformer.decoding.forbidden_words import ForbiddenWords
from keras_transformer.decoding.piece_reader import NEVER

pytestmark = pytest.mark.compiled

START, END, LENGTH = 1, 2, 4


def scripted(table):
    """After token t the probabilities of row t, at every position."""
    logits = ops.convert_to_tensor(np.log(np.array(table, "float32")))
    return lambda ids, index, cache: (ops.take(logits, ids, axis=0), cache)


def reorder(cache, rows):
    return {"rows": ops.take(cache["rows"], rows, axis=0)}


def run(table, num_beams, length_penalty=0.6, batch=1, rules=None, max_length=LENGTH, num_return=None, ended=False):
    how = Beam(num_beams, length_penalty)
    cache = {"rows": ops.arange(batch * num_beams)}
    state = beam_search.start(cache, ops.full((batch,), ended, "bool"), START, max_length, how)
    state = beam_search.advance(
        scripted(table), reorder, how, rules or TokenConstraints(), state, END, num_return or num_beams
    )
    return {name: ops.convert_to_numpy(value) for name, value in state["finished"].items()} | {
        "steps": int(ops.convert_to_numpy(state["index"]))
    }


def every_answer(table, length_penalty, max_length=LENGTH):
    """(rank, score, answer) of all answers that end, or are cut at `max_length`; the best first."""
    words = [token for token in range(1, len(table[0])) if token != END]
    found = []
    for n in range(max_length + 1):
        for said in itertools.product(words, repeat=n):
            answer = [*said, END] if n < max_length else [*said]
            score = sum(np.log(table[a][b]) for a, b in itertools.pairwise([START, *answer]))
            found.append((score / ((5 + len(answer)) / 6) ** length_penalty, score, answer))
    return sorted(found, key=lambda row: -row[0])


def filled(answer, max_length=LENGTH):
    return [*answer, *[0] * (max_length - len(answer))]


# Rows: after 0, 1 (start), 2 (end), 3, 4. Greedy takes 3 and regrets it.
TABLE = [
    [0.2] * 5,
    [0.01, 0.01, 0.08, 0.5, 0.4],
    [0.2] * 5,
    [0.01, 0.3, 0.29, 0.2, 0.2],
    [0.01, 0.01, 0.96, 0.01, 0.01],
]


def test_the_likelier_answer_is_found_that_greedy_misses():
    state = run(TABLE, num_beams=2, length_penalty=0.0)
    assert state["ids"][0, 0].tolist() == [4, END, 0, 0]
    assert state["scores"][0, 0] == pytest.approx(np.log(0.4 * 0.96), rel=1e-4)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0, 2.0])
def test_a_beam_as_wide_as_the_space_is_exhaustive(length_penalty):
    expected = every_answer(TABLE, length_penalty)[:5]
    state = run(TABLE, num_beams=64, length_penalty=length_penalty)
    assert state["ids"][0, :5].tolist() == [filled(answer) for _, _, answer in expected]
    np.testing.assert_allclose(state["ranks"][0, :5], [rank for rank, _, _ in expected], rtol=1e-4)
    np.testing.assert_allclose(state["scores"][0, :5], [score for _, score, _ in expected], rtol=1e-4)


@pytest.mark.heavy
@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.6, 1.0]))
def test_so_it_is_on_any_model(seed, length_penalty):
    table = np.random.default_rng(seed).dirichlet(np.ones(5), size=5)
    expected = every_answer(table, length_penalty)[:3]
    state = run(table, num_beams=64, length_penalty=length_penalty)
    np.testing.assert_allclose(state["ranks"][0, :3], [rank for rank, _, _ in expected], rtol=1e-3)


@pytest.mark.heavy
def test_stopping_early_changes_no_answer(monkeypatch):
    tables = [np.random.default_rng(seed).dirichlet(np.ones(5) / 2, size=5) for seed in range(4)]
    early = {count: [run(table, 3, num_return=count, max_length=8) for table in tables] for count in (1, 2, 3)}
    monkeypatch.setattr(Beam, "best_possible", lambda beam, ranks, max_length: ops.zeros_like(ranks))  # Never stops.
    late = [run(table, 3, num_return=3, max_length=8) for table in tables]
    assert [state["steps"] for state in late] == [8] * 4
    for count, states in early.items():
        assert sum(state["steps"] for state in states) < 8 * 4
        for stopped, whole in zip(states, late):
            assert stopped["ids"][0, :count].tolist() == whole["ids"][0, :count].tolist()


def test_it_stops_when_nothing_better_can_come():
    ends = [[0.2] * 5, [0.01, 0.01, 0.96, 0.01, 0.01], *[[0.2] * 5] * 3]  # The end is near at once.
    assert run(ends, num_beams=2, num_return=1, max_length=50)["steps"] == 1


def test_it_does_not_stop_before_a_longer_word_than_a_forbidden_one_has_ended():
    """Token 3 is forbidden, 3 4 is not: until 4 follows, an answer with 3 is charged for it."""
    words = ForbiddenWords(
        classes=np.array([0, 0, 0, 1, 2], "int32"),
        next=np.array([[0, 1, 0], [2, 2, 0], [2, 2, 2]], "int32"),
        steps=np.array([0, 1, NEVER], "int32"),
    )
    table = [
        [0.2] * 5,
        [0.001, 0.001, 0.2, 0.797, 0.001],
        [0.2] * 5,
        [0.01, 0.01, 0.01, 0.01, 0.96],
        [0.01, 0.01, 0.96, 0.01, 0.01],
    ]
    state = run(table, 2, num_return=1, rules=TokenConstraints(words=words))
    assert state["ids"][0, 0].tolist()[:3] == [3, 4, END]  # log .73, and not [END] with log .2.


def test_what_the_rules_make_of_a_score_ranks_but_is_not_the_score():
    table = [
        [0.2] * 5,
        [0.01, 0.01, 0.01, 0.9, 0.07],
        [0.2] * 5,
        [0.01, 0.01, 0.09, 0.8, 0.09],
        [0.01, 0.01, 0.9, 0.04, 0.04],
    ]
    plain = run(table, 8, rules=TokenConstraints(min_length=2, forbidden_ids=(1,)))
    assert plain["ids"][0, 0].tolist() == [3, 3, 3, 3]
    penalized = run(table, 8, rules=TokenConstraints(min_length=2, forbidden_ids=(1,), repetition_penalty=30.0))
    assert penalized["ids"][0, 0].tolist() == [3, 4, END, 0]
    assert penalized["scores"][0, 0] == pytest.approx(np.log(0.9 * 0.09 * 0.9), rel=1e-4)


def test_a_question_that_was_not_asked_has_no_answer():
    state = run(TABLE, 3, ended=True)
    assert not state["ids"].any() and not state["scores"].any()


def test_fewer_answers_than_beams_leave_the_rest_empty():
    state = run(
        TABLE, 6, max_length=1, rules=TokenConstraints(forbidden_ids=(1,))
    )  # The end, 3 and 4 are all there is.
    assert state["ids"][0].tolist() == [[3], [4], [END], [0], [0], [0]]
    assert state["scores"][0, 3:].tolist() == [0, 0, 0]


def test_the_cache_follows_its_answer():
    """A step function that reads from its cache which tokens were said, instead of from the ids."""
    table = np.log(np.random.default_rng(5).dirichlet(np.ones(5), size=(5, 5)))

    def step(ids, index, cache):
        said = ops.concatenate([cache["rows"][:, 1:], ids[:, None]], axis=1)
        logits = ops.take(ops.reshape(table.astype("float32"), (25, 5)), 5 * said[:, 0] + said[:, 1], axis=0)
        return logits, {"rows": said}

    how = Beam(3, 0.6)
    cache = {"rows": ops.ones((3, 2), "int32")}
    state = beam_search.start(cache, ops.zeros((1,), "bool"), START, 5, how)
    pool = beam_search.advance(step, reorder, how, TokenConstraints(), state, END, 3)["finished"]
    for ids, score in zip(ops.convert_to_numpy(pool["ids"])[0], ops.convert_to_numpy(pool["scores"])[0]):
        said = [1, START, *ids[ids > 0]]
        assert score == pytest.approx(sum(table[a, b, c] for a, b, c in zip(said, said[1:], said[2:])), rel=1e-4)


@pytest.mark.parametrize(
    ("setting", "message"),
    [({"num_beams": 0}, "num_beams must be 1 or more, not 0"), ({"length_penalty": -1}, "length_penalty must be 0 or")],
)
def test_what_cannot_be_is_refused(setting, message):
    with pytest.raises(InputError, match=message):
        Beam(**setting)


def test_finished_answers_do_not_grow():
    for answer in run(TABLE, num_beams=8)["ids"][0].tolist():
        if END in answer:
            assert not any(answer[answer.index(END) + 1 :])


def test_the_best_come_first():
    ranks = run(TABLE, num_beams=8)["ranks"][0]
    assert (np.diff(ranks) <= 0).all()


def test_questions_do_not_mix():
    alone, together = run(TABLE, num_beams=3), run(TABLE, num_beams=3, batch=4)
    for row in together["ids"]:
        assert row.tolist() == alone["ids"][0].tolist()


def test_rules_hold_in_every_beam():
    finished = run(TABLE, num_beams=8, rules=TokenConstraints(min_length=2, forbidden_ids=(1,)))["ids"][0]
    assert not (finished == 1).any()
    assert (finished[:, :2] != END).all()
