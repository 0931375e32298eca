"""How the next token is chosen where each answer goes its own way; where several compete, `beam.py` does it."""

import dataclasses

import numpy as np
from keras import ops

from keras_transformer.decoding.constraints import IMPOSSIBLE
from keras_transformer.errors import InputError

BELOW_ONE = 1 - 1e-6  # Times a sum of float32, less than the sum, however it is rounded.


@dataclasses.dataclass(frozen=True)
class Greedy:
    """Takes the likeliest token at every step."""

    def draw(self, questions, num_return, max_length):
        """Nothing is left to chance: zeros (questions · num_return, max_length)."""
        return np.zeros((questions * num_return, max_length), "float32")

    def select_token(self, log_probabilities, uniforms):
        """Token ids (rows,) from log-probabilities (rows, vocab_size); of equals the first."""
        # What `argmax` does, which XLA is slow at.
        return first_of(ops.equal(log_probabilities, ops.max(log_probabilities, axis=-1, keepdims=True)))


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Draws every token by its probability.

    Args:
        temperature: Divides the log-probabilities: below 1 the likely become likelier.
        top_k: Only so many of the likeliest are drawn from (Fan et al. 2018, section 5.1); 0 for all.
        top_p: Only the likeliest that together reach this probability are (Holtzman et al. 2020, section 3.1); 1 for
            all.
        seed: The same seed gives the same answers, to a question alone as in a batch; None for others at every call.

    Raises:
        InputError: If one of them cannot be.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    # Left out of comparisons: what is compiled for one seed serves all.
    seed: int | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self):
        if not np.finfo("float32").tiny <= self.temperature < float("inf"):
            raise InputError(f"temperature must be above 0, not {self.temperature}")
        if self.top_k < 0:
            raise InputError(f"top_k must be 0 (no limit) or more, not {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise InputError(f"top_p must be above 0 and at most 1, not {self.top_p}")
        if self.seed is not None and self.seed < 0:
            raise InputError(f"seed must be 0 or more, not {self.seed}")

    def draw(self, questions, num_return, max_length):
        """A number in [0, 1) for every token: float32 (questions · num_return, max_length).

        With a seed they are the same for all questions, so that no answer depends on what else is asked.
        """
        random = np.random.default_rng(self.seed)
        if self.seed is None:
            return random.random((questions * num_return, max_length), "float32")
        return np.tile(random.random((num_return, max_length), "float32"), (questions, 1))

    def select_token(self, log_probabilities, uniforms):
        """Token ids (rows,).

        Args:
            log_probabilities: float32 (rows, vocab_size).
            uniforms: Where in the sum of all probabilities each row's token lies, float32 (rows,) in [0, 1).
        """
        possible = log_probabilities > IMPOSSIBLE / 2
        below_the_best = log_probabilities - ops.max(log_probabilities, axis=-1, keepdims=True)
        probabilities = ops.where(possible, ops.exp(below_the_best / self.temperature), 0.0)
        if self.top_k:
            probabilities = the_likeliest(probabilities, self.top_k)
        if self.top_p < 1:
            probabilities = the_nucleus(probabilities, self.top_p)
        reached = ops.cumsum(probabilities, axis=-1)
        beyond = reached > ops.expand_dims(uniforms, 1) * BELOW_ONE * reached[:, -1:]
        # Sums in another order need not rise at every token: only where they really do is one drawn.
        return first_of(ops.logical_and(beyond, probabilities > 0))


@dataclasses.dataclass(frozen=True)
class Forced:
    """Takes tokens that are known beforehand: what was drawn for a step is the token itself."""

    def select_token(self, log_probabilities, uniforms):
        """Token ids (rows,)."""
        return ops.cast(uniforms, "int32")


def described(value):
    """A strategy as a dictionary; all else as it is."""
    if not dataclasses.is_dataclass(value):
        return value
    return {"kind": type(value).__name__.lower(), **dataclasses.asdict(value)}


def first_of(wanted):
    """The first token of each row that is wanted, int32 (rows,), from booleans (rows, vocab_size)."""
    token = ops.arange(wanted.shape[-1])
    return ops.min(ops.where(wanted, token, token[-1]), axis=-1)


def the_likeliest(probabilities, number):
    """The probabilities (rows, vocab_size), 0 for all but the likeliest; what equals the last of them stays."""
    number = min(number, probabilities.shape[-1])
    least = ops.top_k(probabilities, number)[0][:, -1:]
    return ops.where(probabilities >= least, probabilities, 0.0)


def the_nucleus(probabilities, share):
    """The probabilities (rows, vocab_size), 0 for all but the likeliest, as many as first reach `share` of the sum.

    What equals the last of them stays.
    """
    falling = ops.flip(ops.sort(probabilities, axis=-1), axis=-1)
    before = ops.cumsum(falling, axis=-1) - falling
    kept = before < share * ops.sum(falling, axis=-1, keepdims=True)
    least = ops.min(ops.where(kept, falling, falling[:, :1]), axis=-1, keepdims=True)
    return ops.where(probabilities >= least, probabilities, 0.0)
