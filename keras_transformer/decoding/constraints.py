"""What an answer may not say: rules that change the log-probabilities before a token is chosen."""

import dataclasses

from keras import ops

from keras_transformer.errors import InputError

PAD_ID = 0  # Fills up the rows that have ended, and is never an answer's token.
IMPOSSIBLE = -1e9  # A log-probability that no sum of real ones reaches; finite, so that it never makes a NaN.


@dataclasses.dataclass(frozen=True)
class TokenConstraints:
    """What every strategy obeys.

    Args:
        min_length: Tokens before an answer may end.
        repetition_penalty: Factor of the log-probability of a token that the answer holds already: 1 changes nothing,
            more avoids it. (CTRL, Keskar et al. 2019, section 4.1, divides the logits instead, which rewards a token
            whose logit is negative.)
        no_repeat_ngram: No run of so many tokens stands twice in an answer; 0 for no such rule.
        forbidden_ids: Tokens that no answer holds.

    Raises:
        InputError: If one of them cannot be.
    """

    min_length: int = 0
    repetition_penalty: float = 1.0
    no_repeat_ngram: int = 0
    forbidden_ids: tuple = ()

    def __post_init__(self):
        if self.min_length < 0:
            raise InputError(f"min_length must be 0 or more, not {self.min_length}")
        if not 1 <= self.repetition_penalty < float("inf"):
            raise InputError(f"repetition_penalty must be 1 or more, not {self.repetition_penalty}")
        if self.no_repeat_ngram < 0:
            raise InputError(f"no_repeat_ngram must be 0 (no such rule) or more, not {self.no_repeat_ngram}")
        if any(not 0 <= token < 2**31 for token in self.forbidden_ids):
            raise InputError(f"forbidden_ids must be ids of tokens, 0 or more, not {list(self.forbidden_ids)}")

    def apply(self, log_probabilities, ids, index, end_id):
        """The log-probabilities by which to choose.

        Args:
            log_probabilities: float32 (rows, vocab_size).
            ids: The answers so far, int32 (rows, max_length), 0 from `index` on.
            index: int32 scalar: tokens that they hold.
            end_id: Token that ends an answer.
        """
        token = ops.arange(log_probabilities.shape[-1])
        never = stand_in(ops.convert_to_tensor([[PAD_ID, *self.forbidden_ids]], "int32"), token)
        banned = ops.logical_or(never, ops.logical_and(ops.equal(token, end_id), index < self.min_length))
        if self.repetition_penalty != 1:
            said = stand_in(ids, token)
            log_probabilities = ops.where(said, log_probabilities * self.repetition_penalty, log_probabilities)
        if 0 < self.no_repeat_ngram <= ids.shape[1]:
            banned = ops.logical_or(banned, stand_in(repeating(ids, index, self.no_repeat_ngram), token))
        return ops.where(banned, IMPOSSIBLE, log_probabilities)


def stand_in(ids, token):
    """Whether each token (vocab_size,) stands in each row of ids (rows, length): booleans (rows, vocab_size)."""
    return ops.any(ops.equal(ops.expand_dims(ids, 2), token), axis=1)


def repeating(ids, index, size):
    """The tokens that would complete a run of `size` tokens which the row holds already; 0 where there is none.

    Args:
        ids: int32 (rows, length), 0 from `index` on.
        index: int32 scalar.
        size: At least 1.

    Returns:
        int32 (rows, length).
    """
    place = ops.arange(ids.shape[1])
    completes = ops.logical_and(place >= size - 1, place < index)
    for back in range(1, size):
        last = ops.take(ids, ops.maximum(index - back, 0), axis=1)
        completes = ops.logical_and(completes, ops.equal(ops.roll(ids, back, axis=1), ops.expand_dims(last, 1)))
    return ops.where(completes, ids, PAD_ID)
