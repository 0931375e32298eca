"""Generates answers with a trained `transformer()`: greedy decoding, sampling and beam search."""

from __future__ import annotations

import dataclasses
import math
import weakref
from collections.abc import Iterable

import keras
import numpy as np
from keras import ops

from keras_transformer.decoding import beam_search, loop
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.compiled import Budget, compiled, num_shards, side_by_side
from keras_transformer.decoding.config import AnswerTokens, GenerationConfig, Strategy
from keras_transformer.decoding.samplers import Forced
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.layers import Tensor
from keras_transformer.models.ensemble import Ensemble, incremental_of
from keras_transformer.padding import PAD_ID

WIDTHS = (12, 24, 48, 96)  # Question lengths to compile for. Longer questions use multiples of the last one.


@dataclasses.dataclass(frozen=True)
class Generation:
    """The result of `generate`. If `num_return` is above 1, all but the attention have it as their second axis.

    Attributes:
        ids: int32 (batch, max_length): the tokens after the start token, including the end token, padded with 0.
        lengths: int32 (batch,): the number of tokens of each answer, including the end token.
        scores: float32 (batch,): the summed log-probabilities of those tokens, in nats.
        attention: None, or the attention weights for the first answer to each question, a dictionary of float32 arrays:
            "encoder" (batch, layers, heads, length, length), "decoder" (batch, layers, heads, max_length, max_length)
            and "cross" (batch, layers, heads, max_length, length). Row i of the last two belongs to the step that
            generated token i. Rows after the end are 0.
    """

    ids: np.ndarray
    lengths: np.ndarray
    scores: np.ndarray
    attention: dict[str, np.ndarray] | None = None


def generate(
    model: keras.Model | Ensemble, inputs: Tensor, *, start_id: int, end_id: int, max_length: int, min_length: int = 0,
    repetition_penalty: float = 1.0, no_repeat_ngram: int = 0, forbidden_ids: Iterable[int] = (),
    strategy: Strategy | None = None, num_return: int = 1, return_attention: bool = False,
) -> Generation:  # fmt: skip
    """Generates answers autoregressively: encodes each question once, then runs one cached decoder step per token.

    The first call with new settings or a new shape bucket compiles a program. Later calls reuse it.

    Args:
        model: A `transformer()`, or an `Ensemble` of several.
        inputs: Token ids, integer, shape (batch, length), padded with 0. Rows of zeros get no answer.
        start_id: Token that starts every answer.
        end_id: Token that ends an answer.
        max_length: Maximum number of tokens of an answer, including the end token.
        min_length: Minimum number of tokens before the end token.
        repetition_penalty: Factor for the log-probability of tokens that the answer already contains. 1 is no penalty.
        no_repeat_ngram: Size of the n-grams that may occur only once in an answer. 0 disables the constraint.
        forbidden_ids: Token ids that are never generated.
        strategy: Decoding strategy: `Greedy()` (the default), `Sampling(…)` or `Beam(…)`.
        num_return: Number of answers per question: independent samples, or the best hypotheses of a beam search, best
            first.
        return_attention: Whether to return the attention weights.

    Returns:
        A `Generation`.

    Raises:
        InputError: If a setting is out of range, the settings do not fit together, or the attention of an `Ensemble`
            is asked for.
    """
    config = GenerationConfig(
        strategy, num_return, max_length, min_length, repetition_penalty, no_repeat_ngram, tuple(forbidden_ids)
    )
    return generate_answers(model, inputs, config, AnswerTokens(start_id, end_id), return_attention)


def generate_answers(
    model: keras.Model | Ensemble, inputs: Tensor, config: GenerationConfig, tokens: AnswerTokens,
    return_attention: bool = False,
) -> Generation:  # fmt: skip
    """Generates answers like `generate`, with the settings as a whole.

    Args:
        model: A `transformer()`, or an `Ensemble` of several.
        inputs: Token ids, integer, shape (batch, length), padded with 0. Rows of zeros get no answer.
        config: The `GenerationConfig`, with its `max_length`.
        tokens: The `AnswerTokens`.
        return_attention: Whether to return the attention weights.

    Returns:
        A `Generation`.

    Raises:
        InputError: If the attention of an `Ensemble` is asked for, or no answer can have the required words.
    """
    if return_attention and isinstance(model, Ensemble):
        raise InputError(_("an ensemble has no attention of its own; ask one of its models"))
    inputs = np.asarray(inputs, "int32")
    find = best_answers if isinstance(config.strategy, Beam) else answers
    ids, scores = find(model, inputs, config, tokens)
    attention = attention_of(model, inputs, ids[:, 0], config, tokens) if return_attention else None
    if config.num_return == 1:
        ids, scores = ids[:, 0], scores[:, 0]
    return Generation(ids, (ids != PAD_ID).sum(axis=-1, dtype="int32"), scores, attention)


def answers(model, inputs, config, tokens):
    """Returns ids (batch, num_return, max_length) and scores (batch, num_return) of greedy decoding or sampling."""
    (run,) = programs(model, make_program, config, tokens)
    ids, scores = run_rows(run, *prepared(inputs, config))
    shape = (len(inputs), config.num_return)
    return ids.reshape(*shape, config.max_length), scores.reshape(shape)


def begin(model, inputs, config, tokens):
    """Starts stepwise decoding, for streaming. `answers` does the same in one call.

    Args:
        model: A `transformer()`.
        inputs: Token ids (batch, length).
        config: The `GenerationConfig`, with its `max_length`. Beam search is not supported.
        tokens: The `AnswerTokens`.

    Returns:
        A tuple of the state before the first token, as `loop.start` describes it, possibly padded with empty rows, and
        a function that maps a state and a number of tokens to the state with that many tokens.
    """
    start, advance = programs(model, make_stepwise_programs, config, tokens)
    rows, uniforms = prepared(inputs, config)
    return start(*to_class(len(rows), rows, uniforms)), lambda state, limit: advance(state, np.int32(limit))


def prepared(inputs, config):
    """Returns the questions, repeated to one row per answer, and the strategy's random numbers for each token."""
    uniforms = config.strategy.draw(len(inputs), config.num_return, config.max_length)
    return np.repeat(inputs, config.num_return, axis=0), uniforms


def best_answers(model, inputs, config, tokens):
    """Returns ids (batch, num_return, max_length) and scores (batch, num_return) of a beam search."""
    (run,) = programs(model, make_beam_program, config, tokens)
    pool = run_rows(run, inputs, copies=config.strategy.num_beams)
    if config.required and ((pool["ids"][:, 0] == PAD_ID).all(axis=1) & (inputs != PAD_ID).any(axis=1)).any():
        raise InputError(
            _("no answer with the required words was found: take more beams, a larger max_length, or fewer words")
        )
    return (pool[name][:, : config.num_return] for name in ("ids", "scores"))


def attention_of(model, inputs, ids, config, tokens):
    """Computes the attention weights of generated answers, as described in `Generation`.

    The decoding loop runs once more with the tokens given.
    """
    config = GenerationConfig(Forced(), max_length=config.max_length)
    (run,) = programs(model, make_attention_program, config, tokens)
    weights = run_rows(run, inputs, ids.astype("float32"))
    weights = {name: value.astype("float32") for name, value in weights.items()}
    length, generated = inputs.shape[1], (ids != PAD_ID)[:, None, None, :, None]
    return {
        "encoder": weights["encoder"][..., :length, :length],
        "decoder": np.where(generated, weights["decoder"], 0),
        "cross": np.where(generated, weights["cross"][..., :length], 0),
    }


def run_rows(run, inputs, *others, copies=1):
    """Runs a program on all rows, split into shards that run in parallel.

    Args:
        run: A program that `programs` returned.
        inputs: Token ids (rows, length).
        *others: Further arrays with the same number of rows.
        copies: Number of hypotheses per row.

    Returns:
        The nested results of the program as arrays with the same number of rows.
    """
    arrays, count = (inputs, *others), len(inputs)
    size = max(1, math.ceil(count / num_shards(copies * count)))
    calls = [to_class(size, *(x[first : first + size] for x in arrays)) for first in range(0, max(1, count), size)]
    results = side_by_side(run, calls)
    return keras.tree.map_structure(lambda *shards: joined(shards, size, count), *results)


def joined(shards, size, count):
    """Joins shards into one array of `count` rows. Each shard has `size` rows, the last maybe fewer, then padding."""
    return np.concatenate([ops.convert_to_numpy(shard)[:size] for shard in shards])[:count]


def to_class(rows, inputs, *others):
    """Pads arrays to one of a few shapes: `rows` to a power of two, the input width to its bucket length."""
    rows = 1 << max(rows - 1, 0).bit_length()
    inputs = np.pad(inputs, ((0, 0), (0, bucket_length(inputs.shape[1]) - inputs.shape[1])))
    return [np.pad(x, ((0, rows - len(x)), (0, 0))) for x in (inputs, *others)]


def bucket_length(length):
    """Returns the smallest of `WIDTHS` that fits a question, or the next multiple of the last one."""
    return next((width for width in WIDTHS if width >= length), -(-length // WIDTHS[-1]) * WIDTHS[-1])


_programs: weakref.WeakKeyDictionary[keras.Model | Ensemble, dict] = weakref.WeakKeyDictionary()
_budgets: weakref.WeakKeyDictionary[keras.Model | Ensemble, Budget] = weakref.WeakKeyDictionary()


def programs(model, make, config, tokens):
    """Returns the compiled programs of a model for a `GenerationConfig` and `AnswerTokens`. They are cached per model.

    `make` is the function below that creates the programs.
    """
    cached, budget = _programs.setdefault(model, {}), _budgets.get(model)
    key = make, config, tokens

    def made():
        functions = make(incremental_of(model), config, tokens)
        return [compiled(function, model.variables, budget) for function in functions]

    if key not in cached and budget:
        return budget.programs(key, made)
    if key not in cached:
        cached[key] = made()
    return cached[key]


def limit_programs(model, number):
    """Limits the number of programs that are compiled for a model from now on. Others run uncompiled.

    Programs of configurations that were used before do not count. Only TensorFlow's are limited.
    """
    _budgets[model] = Budget(number)


def make_program(incremental, config, tokens):
    """Creates the program of greedy decoding or sampling: maps questions and random numbers to ids and scores."""
    start, advance = make_stepwise_programs(incremental, config, tokens)

    def run(inputs, uniforms):
        state = advance(start(inputs, uniforms), config.max_length)
        return state["ids"], state["scores"]

    return (run,)


def make_stepwise_programs(incremental, config, tokens):
    """Creates the `start` and `advance` programs of stepwise greedy decoding or sampling."""
    constraints = config.constraints_for(tokens)

    def start(inputs, uniforms):
        return loop.start(incremental.prefill(inputs, config.max_length), is_blank(inputs), uniforms, tokens.start_id)

    def advance(state, limit):
        return loop.advance(incremental.decode_step, config.strategy, constraints, state, limit, tokens.end_id)

    return start, advance


def make_beam_program(incremental, config, tokens):
    """Creates the program of a beam search: maps questions to the pool of finished answers."""
    constraints = config.constraints_for(tokens)

    def run(inputs):
        cache = incremental.prefill(inputs, config.max_length, copies=config.strategy.num_beams)
        state = beam_search.start(cache, is_blank(inputs), tokens.start_id, config.max_length, config.strategy)
        step, reorder = incremental.decode_step, incremental.reorder_cache
        state = beam_search.advance(
            step, reorder, config.strategy, constraints, state, tokens.end_id, config.num_return
        )
        return state["finished"]

    return (run,)


def make_attention_program(incremental, config, tokens):
    """Creates the program of teacher forcing: maps questions and answer tokens to the attention weights."""

    def run(inputs, uniforms):
        cache = incremental.prefill(inputs, config.max_length, attention=True)
        state = loop.start(cache, is_blank(inputs), uniforms, tokens.start_id)
        state = loop.advance(
            incremental.decode_step, config.strategy, config.constraints, state, config.max_length, tokens.end_id
        )
        return state["cache"]["attention"]

    return (run,)


def is_blank(inputs):
    """Returns which rows contain only padding: booleans (batch,)."""
    return ops.all(ops.equal(inputs, PAD_ID), axis=1)
