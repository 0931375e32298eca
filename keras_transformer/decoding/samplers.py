"""Strategies that select the next token of independent answers. For beam search, see `beam_search.py`."""

import dataclasses

import numpy as np

from keras_transformer.decoding import ops
from keras_transformer.decoding.constraints import IMPOSSIBLE
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.layers import Tensor

BELOW_ONE = 1 - 1e-6  # A float32 sum times this number is less than the sum, regardless of rounding.


@dataclasses.dataclass(frozen=True)
class Greedy:
    """Greedy decoding: selects the most probable token at every step.

    Example:
        >>> probabilities = np.array([[0.1, 0.7, 0.2]], "float32")
        >>> np.asarray(Greedy().select_token(np.log(probabilities), uniforms=None)).tolist()
        [1]
    """

    def draw(self, questions: int, num_return: int, max_length: int) -> np.ndarray:
        """Returns zeros (questions · num_return, max_length), because nothing is random."""
        return np.zeros((questions * num_return, max_length), "float32")

    def select_token(self, log_probabilities: Tensor, uniforms: Tensor) -> Tensor:
        """Selects token ids (rows,) from log-probabilities (rows, vocab_size). Of equal ones, the lowest id wins."""
        # Equivalent to `argmax`, which is slow in XLA.
        return first_of(ops.equal(log_probabilities, ops.max(log_probabilities, axis=-1, keepdims=True)))


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Samples every token from the model's distribution.

    Args:
        temperature: Divides the log-probabilities. Values below 1 sharpen the distribution.
        top_k: Samples from the k most probable tokens only (Fan et al. 2018, section 5.1). 0 disables the limit.
        top_p: Nucleus sampling: samples from the most probable tokens whose probabilities sum to `top_p` (Holtzman et
            al. 2020, section 3.1). 1 disables the limit.
        seed: Random seed. The same seed gives the same answers, whether a question is asked alone or in a batch. With
            None, the answers differ at every call.

    Raises:
        InputError: If an argument is out of range.

    Example:
        >>> Sampling(temperature=0.8, top_k=40, seed=0)
        Sampling(temperature=0.8, top_k=40, top_p=1.0, seed=0)
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    # Excluded from comparisons, because one compiled program works for all seeds.
    seed: int | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self):
        if not float(np.finfo("float32").tiny) <= self.temperature < float("inf"):
            raise InputError(_("temperature must be above 0, not {temperature}", temperature=self.temperature))
        if self.top_k < 0:
            raise InputError(_("top_k must be 0 (no limit) or more, not {top_k}", top_k=self.top_k))
        if not 0 < self.top_p <= 1:
            raise InputError(_("top_p must be above 0 and at most 1, not {top_p}", top_p=self.top_p))
        if self.seed is not None and self.seed < 0:
            raise InputError(_("seed must be 0 or more, not {seed}", seed=self.seed))

    def draw(self, questions: int, num_return: int, max_length: int) -> np.ndarray:
        """Draws a number in [0, 1) for every token: float32 (questions · num_return, max_length).

        With a seed, all questions get the same numbers, so that no answer depends on the rest of the batch.
        """
        generator = np.random.default_rng(self.seed)
        if self.seed is None:
            return generator.random((questions * num_return, max_length), "float32")
        return np.tile(generator.random((num_return, max_length), "float32"), (questions, 1))

    def select_token(self, log_probabilities: Tensor, uniforms: Tensor) -> Tensor:
        """Selects token ids (rows,) by inverse transform sampling.

        Args:
            log_probabilities: float32 (rows, vocab_size).
            uniforms: One random number per row, float32 (rows,) in [0, 1).
        """
        possible = log_probabilities > IMPOSSIBLE / 2
        shifted = log_probabilities - ops.max(log_probabilities, axis=-1, keepdims=True)
        probabilities = ops.where(possible, ops.exp(shifted / self.temperature), 0.0)
        if self.top_k:
            probabilities = keep_top_k(probabilities, self.top_k)
        if self.top_p < 1:
            probabilities = keep_top_p(probabilities, self.top_p)
        cumulative = ops.cumsum(probabilities, axis=-1)
        beyond = cumulative > ops.expand_dims(uniforms, 1) * BELOW_ONE * cumulative[:, -1:]
        # A parallel cumsum may also change at tokens of probability 0, due to rounding, so these are excluded.
        return first_of(ops.logical_and(beyond, probabilities > 0))


@dataclasses.dataclass(frozen=True)
class Forced:
    """Teacher forcing: selects given tokens, which are passed in place of the random numbers."""

    def select_token(self, log_probabilities, uniforms):
        """Returns the given token ids (rows,)."""
        return ops.cast(uniforms, "int32")


def described(value):
    """Returns a strategy as a dictionary for JSON, and any other value unchanged."""
    if not dataclasses.is_dataclass(value):
        return value
    return {"kind": type(value).__name__.lower(), **dataclasses.asdict(value)}


def first_of(mask):
    """Returns the index of the first True in each row, int32 (rows,), from booleans (rows, vocab_size)."""
    token = ops.arange(mask.shape[-1])
    return ops.min(ops.where(mask, token, token[-1]), axis=-1)


def keep_top_k(probabilities, number):
    """Keeps the highest probabilities of each row and sets the others to 0. All that tie with the last one stay.

    Args:
        probabilities: float32 (rows, vocab_size).
        number: Number of probabilities to keep.
    """
    number = min(number, probabilities.shape[-1])
    least = ops.top_k(probabilities, number)[0][:, -1:]
    return ops.where(probabilities >= least, probabilities, 0.0)


def keep_top_p(probabilities, share):
    """Keeps the smallest set of highest probabilities that reaches `share` of the sum, and sets the others to 0.

    All that tie with the last one stay.

    Args:
        probabilities: float32 (rows, vocab_size).
        share: The share of the sum to keep, from 0 to 1.
    """
    descending = ops.flip(ops.sort(probabilities, axis=-1), axis=-1)
    before = ops.cumsum(descending, axis=-1) - descending
    kept = before < share * ops.sum(descending, axis=-1, keepdims=True)
    least = ops.min(ops.where(kept, descending, descending[:, :1]), axis=-1, keepdims=True)
    return ops.where(probabilities >= least, probabilities, 0.0)
