"""Answers from a trained model: the searches bound to a `transformer()`."""

import dataclasses
import math
import weakref

import keras
import numpy as np
from keras import ops

from keras_transformer.decoding import beam_search, loop
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.compiled import compiled, num_shards, side_by_side
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.decoding.constraints import PAD_ID
from keras_transformer.decoding.samplers import Forced
from keras_transformer.models.incremental import IncrementalTransformer

WIDTHS = (12, 24, 48, 96)  # Question lengths that are compiled for; longer ones by multiples of the last.


@dataclasses.dataclass(frozen=True)
class Generation:
    """What `generate` returns. With `num_return` above 1, all but the attention have an axis of it behind the first.

    Attributes:
        ids: int32 (batch, max_length): the tokens after the start token, up to and with the end token, then 0.
        lengths: int32 (batch,): the tokens of each answer, the end token included.
        scores: float32 (batch,): the summed log-probabilities of those tokens, in nats.
        attention: None, or what the tokens of each question's first answer attended to, a dictionary of float32 arrays:
            "encoder" (batch, layers, heads, length, length), "decoder" (batch, layers, heads, max_length, max_length)
            and "cross" (batch, layers, heads, max_length, length). Row i of the latter two made token i; rows after the
            end are 0.
    """

    ids: np.ndarray
    lengths: np.ndarray
    scores: np.ndarray
    attention: dict | None = None


def generate(
    model, inputs, *, start_id, end_id, max_length, min_length=0, repetition_penalty=1.0, no_repeat_ngram=0,
    forbidden_ids=(), strategy=None, num_return=1, return_attention=False,
):  # fmt: skip
    """Decodes free-running: each question is encoded once, then each token costs one cached step of the decoder.

    The first call for a new class of shapes or for other settings compiles a program; the others reuse it.

    Args:
        model: A `transformer()`.
        inputs: Token ids (batch, length), padded with 0; a row of zeros stays without an answer.
        start_id: Token that starts every answer.
        end_id: Token that ends an answer.
        max_length: Tokens of an answer at most, its end token included.
        min_length: Tokens before an answer may end.
        repetition_penalty: Factor of the log-probability of tokens that the answer holds already; 1 for none.
        no_repeat_ngram: No run of so many tokens stands twice in an answer; 0 for no such rule.
        forbidden_ids: Tokens that no answer holds.
        strategy: How tokens are chosen: `Greedy()` by default, `Sampling(…)` or `Beam(…)`.
        num_return: Answers to each question: so many samples, or the best of a beam search, the best first.
        return_attention: Whether the attention weights are returned.

    Returns:
        A `Generation`.

    Raises:
        InputError: If the settings cannot be, or not together.
    """
    config = GenerationConfig(
        start_id, end_id, max_length, min_length, repetition_penalty, no_repeat_ngram, forbidden_ids,
        strategy, num_return,
    )  # fmt: skip
    inputs = np.asarray(inputs, "int32")
    ids, scores = (
        best_answers(model, inputs, config) if isinstance(config.strategy, Beam) else answers(model, inputs, config)
    )
    attention = attention_of(model, inputs, ids[:, 0], config) if return_attention else None
    if num_return == 1:
        ids, scores = ids[:, 0], scores[:, 0]
    return Generation(ids, (ids != PAD_ID).sum(axis=-1, dtype="int32"), scores, attention)


def answers(model, inputs, config):
    """Ids (batch, num_return, max_length) and scores (batch, num_return) where each answer goes its own way."""
    (run,) = programs(model, make_program, config)
    ids, scores = run_rows(run, *prepared(inputs, config))
    shape = (len(inputs), config.num_return)
    return ids.reshape(*shape, config.max_length), scores.reshape(shape)


def begin(model, inputs, config):
    """The state before the first token, and the function that brings a state to a number of tokens.

    This is what `answers` does in steps, for those who want to see each token as it comes.

    Args:
        model: A `transformer()`.
        inputs: Token ids (batch, length).
        config: The `GenerationConfig`, not of a `Beam`.

    Returns:
        The state as `search.start` describes it, its rows perhaps filled up with empty ones, and a function of a state
        and a number of tokens.
    """
    start, advance = programs(model, make_stepwise_programs, config)
    rows, uniforms = prepared(inputs, config)
    return start(*to_class(len(rows), rows, uniforms)), lambda state, tokens: advance(state, np.int32(tokens))


def prepared(inputs, config):
    """The questions, a row for each answer, and what the strategy draws for each of its tokens."""
    uniforms = config.strategy.draw(len(inputs), config.num_return, config.max_length)
    return np.repeat(inputs, config.num_return, axis=0), uniforms


def best_answers(model, inputs, config):
    """Ids (batch, num_return, max_length) and scores (batch, num_return) of a beam search."""
    (run,) = programs(model, make_beam_program, config)
    pool = run_rows(run, inputs, copies=config.strategy.num_beams)
    return (pool[name][:, : config.num_return] for name in ("ids", "scores"))


def attention_of(model, inputs, ids, config):
    """The attention weights of answers that are known, from the loop that makes answers: see `Generation`."""
    config = GenerationConfig(config.start_id, config.end_id, config.max_length, strategy=Forced())
    (run,) = programs(model, make_attention_program, config)
    found = run_rows(run, inputs, ids.astype("float32"))
    weights = {name: value.astype("float32") for name, value in found.items()}
    length, made = inputs.shape[1], (ids != PAD_ID)[:, None, None, :, None]
    return {
        "encoder": weights["encoder"][..., :length, :length],
        "decoder": np.where(made, weights["decoder"], 0),
        "cross": np.where(made, weights["cross"][..., :length], 0),
    }


def run_rows(run, inputs, *others, copies=1):
    """What a program returns for the rows of its arguments, which are shared out among the cores.

    Args:
        run: What `programs` made.
        inputs: Token ids (rows, length).
        *others: Further arrays of as many rows.
        copies: Answers to each row that grow side by side.

    Returns:
        Its nested tensors as arrays of as many rows.
    """
    arrays, count = (inputs, *others), len(inputs)
    size = max(1, math.ceil(count / num_shards(copies * count)))
    calls = [to_class(size, *(x[first : first + size] for x in arrays)) for first in range(0, max(1, count), size)]
    found = side_by_side(run, calls)
    return keras.tree.map_structure(lambda *parts: joined(parts, size, count), *found)


def joined(parts, size, count):
    """One array of `count` rows from tensors that hold `size` of them each, less in the last, before their padding."""
    return np.concatenate([ops.convert_to_numpy(part)[:size] for part in parts])[:count]


def to_class(rows, inputs, *others):
    """Pads arrays to one of few shapes: `rows` to a power of two, the width of the inputs to its class."""
    rows = 1 << max(rows - 1, 0).bit_length()
    inputs = np.pad(inputs, ((0, 0), (0, bucket_length(inputs.shape[1]) - inputs.shape[1])))
    return [np.pad(x, ((0, rows - len(x)), (0, 0))) for x in (inputs, *others)]


def bucket_length(length):
    """The least of `WIDTHS` that holds a question of that length; beyond, the next multiple of the last."""
    return next((width for width in WIDTHS if width >= length), -(-length // WIDTHS[-1]) * WIDTHS[-1])


_programs = weakref.WeakKeyDictionary()


def programs(model, make, config):
    """What `make` compiles of a model's parts for a `GenerationConfig`, made once."""
    made = _programs.setdefault(model, {})
    if (make, config) not in made:
        functions = make(IncrementalTransformer(model), config)
        made[make, config] = [compiled(function, model.variables) for function in functions]
    return made[make, config]


def make_program(incremental, config):
    """A whole search in which each answer goes its own way: from questions and draws to ids and scores."""
    start, advance = make_stepwise_programs(incremental, config)

    def run(inputs, uniforms):
        state = advance(start(inputs, uniforms), config.max_length)
        return state["ids"], state["scores"]

    return (run,)


def make_stepwise_programs(incremental, config):
    """The start and the advance of such a search."""

    def start(inputs, uniforms):
        return loop.start(
            incremental.prefill(inputs, config.max_length), nothing_asked(inputs), uniforms, config.start_id
        )

    def advance(state, limit):
        return loop.advance(incremental.decode_step, config.strategy, config.rules, state, limit, config.end_id)

    return start, advance


def make_beam_program(incremental, config):
    """A whole beam search: from questions to the pool of finished answers."""

    def run(inputs):
        cache = incremental.prefill(inputs, config.max_length, copies=config.strategy.num_beams)
        state = beam_search.start(cache, nothing_asked(inputs), config.start_id, config.max_length, config.strategy)
        step, reorder = incremental.decode_step, incremental.reorder_cache
        state = beam_search.advance(
            step, reorder, config.strategy, config.rules, state, config.end_id, config.num_return
        )
        return state["finished"]

    return (run,)


def make_attention_program(incremental, config):
    """A search over tokens that are known: from questions and tokens to the attention weights."""

    def run(inputs, uniforms):
        cache = incremental.prefill(inputs, config.max_length, attention=True)
        state = loop.start(cache, nothing_asked(inputs), uniforms, config.start_id)
        state = loop.advance(
            incremental.decode_step, config.strategy, config.rules, state, config.max_length, config.end_id
        )
        return state["cache"]["attention"]

    return (run,)


def nothing_asked(inputs):
    """Which rows hold padding alone: booleans (batch,)."""
    return ops.all(ops.equal(inputs, PAD_ID), axis=1)
