"""Answers from a trained model: the search bound to a `transformer()`."""

import dataclasses
import weakref

import numpy as np
from keras import ops

from keras_transformer.decoding import search
from keras_transformer.decoding.compiled import compiled
from keras_transformer.models.stepping import SteppingTransformer

WIDTHS = (
    8,
    16,
    24,
    32,
    48,
    64,
    96,
    128,
)  # Question lengths that are compiled for; longer ones by multiples of the last.


@dataclasses.dataclass(frozen=True)
class Generation:
    """What `generate` returns.

    Attributes:
        ids: int32 (batch, max_length): the tokens after the start token, up to and with the end token, then 0.
        lengths: int32 (batch,): the tokens of each row, the end token included.
        scores: float32 (batch,): the summed log-probabilities of those tokens, in nats.
    """

    ids: np.ndarray
    lengths: np.ndarray
    scores: np.ndarray


def generate(model, inputs, *, start_id, end_id, max_length, min_length=0, strategy=None):
    """Decodes free-running: each question is encoded once, then each token costs one cached step of the decoder.

    The first call for a new class of shapes compiles a program; the others reuse it.

    Args:
        model: A `transformer()`.
        inputs: Token ids (batch, length), padded with 0; a row of zeros stays without an answer.
        start_id: Token that starts every answer.
        end_id: Token that ends an answer.
        max_length: Tokens of an answer at most, its end token included.
        min_length: Tokens before an answer may end.
        strategy: How tokens are chosen; `Greedy()` by default.

    Returns:
        A `Generation`.
    """
    state, advance = begin(model, inputs, start_id, end_id, max_length, min_length, strategy)
    state = advance(state, max_length)
    ids, scores = (ops.convert_to_numpy(state[name])[: len(inputs)] for name in ("ids", "scores"))
    return Generation(ids, (ids != 0).sum(axis=1, dtype="int32"), scores)


def begin(model, inputs, start_id, end_id, max_length, min_length=0, strategy=None):
    """The state before the first token, and the function that brings a state to a number of tokens.

    This is `generate` in steps, for those who want to see each token as it comes. Arguments as there.

    Returns:
        The state as `search.start` describes it, its batch perhaps filled up with empty rows, and a function of a state
        and a number of tokens.
    """
    inputs = to_class(np.asarray(inputs, "int32"))
    start, advance = programs(model, start_id, end_id, max_length, min_length, strategy or search.Greedy())
    return start(inputs), lambda state, tokens: advance(state, np.int32(tokens))


def to_class(inputs):
    """Pads a batch to one of few shapes: rows to a power of two, width to one of `WIDTHS`."""
    batch, length = inputs.shape
    width = next((w for w in WIDTHS if w >= length), -(-length // WIDTHS[-1]) * WIDTHS[-1])
    rows = 1 << max(batch - 1, 0).bit_length()
    return np.pad(inputs, ((0, rows - batch), (0, width - length)))


_programs = weakref.WeakKeyDictionary()


def programs(model, *settings):
    """The compiled start and advance of a model and some settings, made once."""
    made = _programs.setdefault(model, {})
    if settings not in made:
        made[settings] = make_programs(SteppingTransformer(model), model.variables, *settings)
    return made[settings]


def make_programs(stepping, variables, start_id, end_id, max_length, min_length, strategy):
    """Start and advance, each compiled as one program."""

    def start(inputs):
        nothing_asked = ops.all(ops.equal(inputs, 0), axis=1)
        return search.start(stepping.start(inputs, max_length), nothing_asked, start_id, max_length)

    def advance(state, limit):
        return search.advance(stepping.step, strategy, state, limit, end_id, min_length)

    return compiled(start, variables), compiled(advance, variables)
