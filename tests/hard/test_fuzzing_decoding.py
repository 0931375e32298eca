"""Decoding with random settings and models, compared with the slow way: Python, one token after the other."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import strategies as st
from keras import ops

from keras_transformer import Beam, GenerationConfig, Greedy, Sampling
from keras_transformer.decoding import beam_search, loop

from .conftest import numbers

pytestmark = pytest.mark.slow
START, END = 1, 2
CLOSE = 1e-4  # Nats between what float32 and Python find.


def scripted(table):
    """A step function: after token t the logits of row t."""
    logits = ops.convert_to_tensor(np.array(table, "float32"))
    return lambda ids, index, cache: (ops.take(logits, ids, axis=0), cache)


def log_softmax(row):
    total = math.log(sum(math.exp(value) for value in row))
    return [value - total for value in row]


def constrained(row, said, config):
    """The log-probabilities of the next token after the tokens that were said, without those that may not follow."""
    size = config.no_repeat_ngram
    runs = {tuple(said[i : i + size]) for i in range(len(said) - size + 1)} if size else set()
    values = {}
    for token, value in enumerate(row):
        never = token == 0 or token in config.forbidden_ids or (token == END and len(said) < config.min_length)
        if never or (0 < size <= config.max_length and (*said, token)[-size:] in runs and len(said) >= size - 1):
            continue
        values[token] = value * config.repetition_penalty if token in said else value
    return values


def every_answer(table, config):
    """(log-probability after the constraints, log-probability, answer) of all complete answers."""
    answers, open_ends = [], [(0.0, 0.0, [])]
    for _ in range(config.max_length):
        longer = []
        for rank, score, said in open_ends:
            row = log_softmax(table[said[-1] if said else START])
            for token, value in constrained(row, said, config).items():
                entry = rank + value, score + row[token], [*said, token]
                (answers if token == END or len(entry[2]) == config.max_length else longer).append(entry)
        open_ends = longer
    return answers


def penalty(answer, config):
    return ((5 + len(answer)) / 6) ** config.strategy.length_penalty


@st.composite
def cases(draw):
    """A table of logits, and settings that fit it."""
    size = draw(st.integers(4, 6))
    logits = st.integers(-12, 12).map(lambda value: value / 4)
    table = draw(st.lists(st.lists(logits, min_size=size, max_size=size), min_size=size, max_size=size))
    length = draw(st.integers(1, 5))
    limits = {
        "max_length": length, "min_length": draw(st.integers(0, length)),
        "repetition_penalty": draw(st.sampled_from([1.0, 1.0, 1.3, 2.0])), "no_repeat_ngram": draw(st.integers(0, 3)),
        "forbidden_ids": draw(st.lists(st.integers(1, size), max_size=2)),
    }  # fmt: skip
    sampling = st.builds(
        Sampling,
        st.sampled_from([0.25, 1.0, 3.0]),
        st.integers(0, 4),
        st.sampled_from([0.3, 0.9, 1.0]),
        st.integers(0, 99),
    )
    strategy = draw(st.one_of(st.just(Greedy()), sampling))
    return table, GenerationConfig(strategy, **limits)


def decoded(table, config):
    """What the loop says, and its score."""
    uniforms = config.strategy.draw(1, 1, config.max_length)
    state = loop.start({}, ops.full((1,), False, "bool"), ops.convert_to_tensor(uniforms), START)
    state = loop.advance(scripted(table), config.strategy, config.constraints, state, config.max_length, END)
    ids = ops.convert_to_numpy(state["ids"])[0].tolist()
    length = next((i for i, token in enumerate(ids) if token == 0), len(ids))
    assert not any(ids[length:])
    return ids[:length], float(ops.convert_to_numpy(state["scores"])[0]), uniforms[0].tolist()


def is_greedy(token, values):
    return values[token] > max(values.values()) - CLOSE


def is_sample(token, values, strategy, uniform):
    """Whether a token is where its random number falls, of those that top_k and top_p leave, but for rounding."""
    shares = {token: math.exp((value - max(values.values())) / strategy.temperature) for token, value in values.items()}
    if strategy.top_k:
        shares = at_least(sorted(shares.values(), reverse=True)[: strategy.top_k][-1], shares)
    if strategy.top_p < 1:
        best, border = sorted(shares.values(), reverse=True), strategy.top_p * sum(shares.values())
        sums = list(itertools.accumulate(best))
        if any(abs(so_far - border) < CLOSE * border for so_far in sums):
            return token in shares  # Rounding decides who is the last.
        shares = at_least(best[next(i for i, so_far in enumerate(sums) if so_far > border)], shares)
    total, below = sum(shares.values()), sum(share for other, share in shares.items() if other < token)
    return token in shares and below / total - CLOSE <= uniform <= (below + shares[token]) / total + CLOSE


def at_least(least, shares):
    """The tokens whose shares are no smaller, all that are equal included."""
    return {token: share for token, share in shares.items() if share >= least * (1 - CLOSE)}


def test_every_token_of_the_loop(fuzz):
    def check(case):
        table, config = case
        said, score, uniforms = decoded(table, config)
        expected = 0.0
        for index, token in enumerate(said):
            row = log_softmax(table[said[index - 1] if index else START])
            values = constrained(row, said[:index], config)
            assert token in values
            if isinstance(config.strategy, Greedy):
                assert is_greedy(token, values)
            else:
                assert is_sample(token, values, config.strategy, uniforms[index])
            expected += row[token]
        assert score == pytest.approx(expected, abs=CLOSE)
        if len(said) < config.max_length and END not in said:  # Nothing may follow.
            assert not constrained(log_softmax(table[said[-1] if said else START]), said, config)
        assert END not in said[:-1]

    fuzz(cases(), check, 0.005)


def test_beams_wide_enough_find_the_best_of_all_answers(fuzz):
    def check(case):
        (table, config), length_penalty, num_return = case
        width = 80  # More than the open ends of answers of three tokens.
        longest = min(3, config.max_length)
        config = GenerationConfig(
            Beam(width, length_penalty), num_return, longest, min(config.min_length, longest),
            config.repetition_penalty, config.no_repeat_ngram, config.forbidden_ids,
        )  # fmt: skip
        cache = {"rows": ops.arange(width)}
        state = beam_search.start(cache, ops.full((1,), False, "bool"), START, config.max_length, config.strategy)
        state = beam_search.advance(
            scripted(table), lambda cache, rows: cache, config.strategy, config.constraints, state, END, num_return
        )
        pool = {name: ops.convert_to_numpy(value)[0] for name, value in state["finished"].items()}
        answers = sorted(
            ((rank / penalty(said, config), score, said) for rank, score, said in every_answer(table, config)),
            reverse=True,
        )
        by_text = {tuple(said): (rank, score) for rank, score, said in answers}
        for place in range(num_return):
            said = tuple(token for token in pool["ids"][place].tolist() if token)
            if place >= len(answers):
                assert said == ()
                continue
            rank, score = by_text[said]
            assert rank == pytest.approx(answers[place][0], abs=CLOSE)
            assert float(pool["scores"][place]) == pytest.approx(score, abs=CLOSE)
        returned = [tuple(row) for row in pool["ids"][: min(num_return, len(answers))].tolist()]
        assert len({*returned}) == len(returned)

    fuzz(st.tuples(cases(), st.sampled_from([0.0, 0.6, 1.0, 2.0]), st.integers(1, 3)), check, 0.003)


def test_settings_of_generation(fuzz):
    values = numbers | st.none()
    strategies = st.one_of(
        st.none(), st.builds(lambda *given: (Beam, given), numbers, numbers),
        st.builds(lambda *given: (Sampling, given), numbers, numbers, numbers, values),
    )  # fmt: skip
    names = ("num_return", "max_length", "min_length", "repetition_penalty", "no_repeat_ngram")
    limits = st.fixed_dictionaries(
        {}, optional=dict.fromkeys(names, numbers) | {"forbidden_ids": st.lists(st.integers(-2, 2**33), max_size=3)}
    )

    def check(case):
        strategy, limits = case
        try:
            strategy = strategy and strategy[0](*strategy[1])
            config = GenerationConfig(strategy, **limits)
        except ValueError as error:  # An `InputError`, or Python's of a number too long to be shown.
            assert "\n" not in str(error)
            return
        assert config.of_one_answer().num_return == 1
        assert hash(config) == hash(GenerationConfig(config.strategy, **limits))

    fuzz(st.tuples(strategies, limits), check, 0.12)
