"""Forbidden words as a table over tokens, so that no answer contains them, however they are split into tokens."""

import dataclasses
import functools

import numpy as np

from keras_transformer.decoding import ops
from keras_transformer.decoding.piece_reader import PieceReader, TokenTable, fewest_tokens

# Log-probability of a longer word after a token that ends with a forbidden one. Most words end with their last token,
# so a token is less likely if only a longer word is allowed after it; else greedy decoding ends up there more often and
# has to make one up. Far less would keep words such as "returns" from being said where "return" is forbidden.
LONGER_WORD = float(np.log(0.01))


@dataclasses.dataclass(frozen=True, eq=False)
class ForbiddenWords(TokenTable):
    """The places that answers can have in forbidden words.

    Attributes:
        steps: The fewest tokens from each place to one where the answer may end, int32 (places,): 0 at most places, and
            `NEVER` where a word was found.
    """

    steps: np.ndarray

    def is_past(self, places):
        """Returns whether the answer may end at each place."""
        return ops.equal(ops.take(ops.convert_to_tensor(self.steps), places), 0)

    def refund(self, places):
        """Returns what is given back to the log-probability once the answer is past a forbidden word: float32."""
        return ops.where(self.is_past(places), 0.0, -LONGER_WORD)

    def judge(self, places, left):
        """Judges the next tokens.

        Args:
            places: int32 (rows,).
            left: int32 scalar, the number of tokens that may follow the next one.

        Returns:
            A tuple of whether each token is banned, bool (rows, vocab_size), and what to add to its log-probability,
            float32 (rows, vocab_size). The sum over an answer that may end is 0.
        """
        steps = ops.take(ops.convert_to_tensor(self.steps[self.next]), places, axis=0)
        bonus = ops.where(ops.equal(steps, 0), 0.0, LONGER_WORD) + ops.expand_dims(self.refund(places), 1)
        classes = ops.convert_to_tensor(self.classes)
        return ops.take(steps > left, classes, axis=1), ops.take(bonus, classes, axis=1)


@functools.lru_cache(maxsize=64)
def forbidden_words(phrases, tokenizer, forbidden_ids, end_id):
    """Returns the `ForbiddenWords` of a tokenizer.

    Args:
        phrases: The forbidden words, a tuple of texts.
        tokenizer: The `Tokenizer` of the answers.
        forbidden_ids: Further tokens that are never generated, a tuple.
        end_id: Token that ends an answer.
    """
    table, pending, found = PieceReader(tokenizer, phrases).table(forbidden_ids, end_id)
    ends = ~pending
    ends[found] = False
    return ForbiddenWords(table.classes, table.next, fewest_tokens(table.next, ends))
