"""Token constraints, which change the log-probabilities before a token is selected."""

import dataclasses

from keras_transformer.decoding import ops
from keras_transformer.decoding.forbidden_words import ForbiddenWords
from keras_transformer.decoding.required_words import RequiredWords
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.padding import PAD_ID

IMPOSSIBLE = -1e9  # Below any real sum of log-probabilities, and finite, so that it cannot produce NaN.


@dataclasses.dataclass(frozen=True)
class TokenConstraints:
    """Constraints on the generated tokens, for every decoding strategy.

    Args:
        min_length: Minimum number of tokens before the end token.
        repetition_penalty: Factor for the log-probability of tokens that the answer already contains. 1 is no penalty,
            and larger values make repetition less likely. (CTRL, Keskar et al. 2019, section 4.1, divides the logits
            instead, which rewards tokens with a negative logit.)
        no_repeat_ngram: Size of the n-grams that may occur only once in an answer. 0 disables the constraint.
        forbidden_ids: Token ids that are never generated.
        words: The `ForbiddenWords`; None without them.
        required: The `RequiredWords`; None without them. Only beam search heeds them.

    Raises:
        InputError: If an argument is out of range.
    """

    min_length: int = 0
    repetition_penalty: float = 1.0
    no_repeat_ngram: int = 0
    forbidden_ids: tuple = ()
    words: ForbiddenWords | None = None
    required: RequiredWords | None = None

    def __post_init__(self):
        if self.min_length < 0:
            raise InputError(_("min_length must be 0 or more, not {min_length}", min_length=self.min_length))
        if not 1 <= self.repetition_penalty < float("inf"):
            raise InputError(
                _(
                    "repetition_penalty must be 1 or more, not {repetition_penalty}",
                    repetition_penalty=self.repetition_penalty,
                )
            )
        if self.no_repeat_ngram < 0:
            raise InputError(
                _(
                    "no_repeat_ngram must be 0 (disabled) or more, not {no_repeat_ngram}",
                    no_repeat_ngram=self.no_repeat_ngram,
                )
            )
        if any(not 0 <= token < 2**31 for token in self.forbidden_ids):
            raise InputError(_("forbidden_ids must be token ids, 0 or more, not {ids}", ids=list(self.forbidden_ids)))

    def apply(self, log_probabilities, ids, index, end_id, places=None, missing=None):
        """Applies the constraints to the log-probabilities.

        Args:
            log_probabilities: float32 (rows, vocab_size).
            ids: The answers so far, int32 (rows, max_length), 0 from `index` on.
            index: int32 scalar, the current length of the answers.
            end_id: Token that ends an answer.
            places: The places of the answers in the forbidden words, int32 (rows,): see `follow`.
            missing: What is `Missing` of the required words; None without them.

        Returns:
            The new log-probabilities, float32 (rows, vocab_size). Banned tokens are IMPOSSIBLE.
        """
        token = ops.arange(log_probabilities.shape[-1])
        never = occur_in(ops.convert_to_tensor([[PAD_ID, *self.forbidden_ids]], "int32"), token)
        ends, left = ops.equal(token, end_id), ids.shape[1] - 1 - index
        banned = ops.logical_or(never, ops.logical_and(ends, index < self.min_length))
        if self.repetition_penalty != 1:
            repeated = occur_in(ids, token)
            log_probabilities = ops.where(repeated, log_probabilities * self.repetition_penalty, log_probabilities)
        if 0 < self.no_repeat_ngram <= ids.shape[1]:
            repeated = occur_in(repeating(ids, index, self.no_repeat_ngram), token)
            if self.words:  # Whatever it takes to get past a forbidden word may be repeated.
                repeated = ops.logical_and(repeated, ops.expand_dims(self.words.is_past(places), 1))
            if missing:  # So may required words.
                repeated = ops.logical_and(repeated, missing.after >= ops.expand_dims(missing.now, 1))
            banned = ops.logical_or(banned, repeated)
        if missing:
            incomplete = ops.where(ends, ops.expand_dims(missing.now, 1) > 0, missing.after > left)
            banned = ops.logical_or(banned, incomplete)
        if self.words:
            words_banned, bonus = self.words.judge(places, left)
            banned, log_probabilities = ops.logical_or(banned, words_banned), log_probabilities + bonus
        return ops.where(banned, IMPOSSIBLE, log_probabilities)

    def reachable(self, ranks, places):
        """Returns upper bounds of log-probabilities after further tokens, which can raise them in one case only.

        What an answer is charged for ending with a forbidden word, it gets back when it goes on to a longer word.

        Args:
            ranks: Log-probabilities of answers, float32.
            places: The places of the answers in the forbidden words, int32, in the same shape.
        """
        return ranks + self.words.refund(places) if self.words else ranks

    def follow(self, places, tokens):
        """Returns the places in the forbidden words after further tokens: int32, in the shape of both arguments.

        Every answer starts at place 0, and stays there without forbidden words.
        """
        return self.words.follow(places, tokens) if self.words else places


def occur_in(ids, token):
    """Returns whether each token (vocab_size,) occurs in each row of ids (rows, length): bool (rows, vocab_size)."""
    return ops.any(ops.equal(ops.expand_dims(ids, 2), token), axis=1)


def repeating(ids, index, size):
    """Returns the tokens that would repeat an n-gram of the row.

    Args:
        ids: int32 (rows, length), 0 from `index` on.
        index: int32 scalar, the current length of the answers.
        size: Size of the n-grams, at least 1.

    Returns:
        int32 (rows, length). Positions without such a token are 0.
    """
    place = ops.arange(ids.shape[1])
    completes = ops.logical_and(place >= size - 1, place < index)
    for back in range(1, size):
        last = ops.take(ids, ops.maximum(index - back, 0), axis=1)
        completes = ops.logical_and(completes, ops.equal(ops.roll(ids, back, axis=1), ops.expand_dims(last, 1)))
    return ops.where(completes, ids, PAD_ID)
