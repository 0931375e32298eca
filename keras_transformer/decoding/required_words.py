"""Required words as tables over tokens, so that an answer ends only after all of them."""

import dataclasses
import functools
import typing

import numpy as np

from keras_transformer.decoding import ops
from keras_transformer.decoding.phrases import ANY
from keras_transformer.decoding.piece_reader import NEVER, PieceReader, TokenTable, fewest_tokens
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.layers import Tensor


class Missing(typing.NamedTuple):
    """The numbers of tokens in which answers can still be completed with all words; 0 where they may end.

    Attributes:
        now: int32 (rows,).
        after: int32 (rows, vocab_size): after each next token.
    """

    now: Tensor
    after: Tensor


@dataclasses.dataclass(frozen=True, eq=False)
class RequiredWord(TokenTable):
    """The places that answers can have in one required word.

    Attributes:
        to_end: The fewest tokens from each place to one where the answer may end, int32 (places,).
        to_found: The fewest tokens until the word is found, so that nothing lengthens it anymore, int32 (places,).
        cost: The most tokens that it takes until the word is found, from any place.
    """

    to_end: np.ndarray
    to_found: np.ndarray
    cost: int

    @classmethod
    def of(cls, word, tokenizer, forbidden_ids, end_id):
        """Returns the table of a word; raises `InputError` if the tokenizer cannot spell it."""
        reader = PieceReader(tokenizer, [word], other=ANY)
        table, pending, found = reader.table(forbidden_ids, end_id)
        is_found = np.arange(len(pending)) == found
        allowed = table.next[:, :-2]
        to_end, to_found = fewest_tokens(allowed, pending | is_found), fewest_tokens(allowed, is_found)
        if not reader.phrases.phrases or to_end[0] == NEVER:
            raise InputError(
                _("required word {word!r}: no allowed tokens of the tokenizer spell it: choose another word", word=word)
            )
        cost = NEVER if to_found[0] == NEVER else int(to_found[to_found < NEVER].max())
        return cls(table.classes, table.next, to_end, to_found, cost)

    def after(self, tokens_left, places):
        """Returns `to_end` or `to_found` after each next token: int32 (rows, vocab_size)."""
        rows = ops.take(ops.convert_to_tensor(tokens_left[self.next]), places, axis=0)
        return ops.take(rows, ops.convert_to_tensor(self.classes), axis=1)


@dataclasses.dataclass(frozen=True, eq=False)
class RequiredWords:
    """The words that every answer contains.

    An answer has a place in each word, int32 (…, words), all 0 for an empty answer.

    Attributes:
        words: The `RequiredWord`s, a tuple.
    """

    words: tuple[RequiredWord, ...]

    def follow(self, places, tokens):
        """Returns the places after further tokens: int32, in the shape of the places."""
        each = [word.follow(places[..., number], tokens) for number, word in enumerate(self.words)]
        return ops.stack(each, axis=-1)

    def missing(self, places):
        """Returns what is `Missing` at places, int32 (rows, words)."""
        each = [(word, places[:, number]) for number, word in enumerate(self.words)]
        now = [
            tuple(ops.take(ops.convert_to_tensor(left), place) for left in (word.to_end, word.to_found))
            for word, place in each
        ]
        after = [tuple(word.after(left, place) for left in (word.to_end, word.to_found)) for word, place in each]
        return Missing(self.tokens_left(now), self.tokens_left(after))

    def tokens_left(self, distances):
        """Returns a number of tokens in which an answer can be completed.

        The word that takes the fewest comes first, and then the others, whatever their places are after it. An answer
        in which no word is open but the last may end with that word.

        Args:
            distances: For each word, a pair of `to_end` and `to_found`, int32 tensors of one shape.
        """
        to_end = sum(end for end, _found in distances)
        total, saved, num_open = 0, 0, 0
        for word, (_end, found) in zip(self.words, distances):
            is_open = found > 0
            total += ops.where(is_open, word.cost, 0)
            saved = ops.maximum(saved, ops.where(is_open, word.cost - found, 0))
            num_open += ops.cast(is_open, "int32")
        left = ops.where(num_open > 1, total - saved, to_end)
        return ops.where(ops.equal(to_end, 0), 0, ops.where(to_end < NEVER, left, NEVER))

    @property
    def least_length(self) -> int:
        """The number of tokens in which an answer with all words is possible for sure."""
        if len(self.words) == 1:
            return int(self.words[0].to_end[0])
        costs = [word.cost for word in self.words]
        return sum(costs) - max(word.cost - int(word.to_found[0]) for word in self.words)


@functools.lru_cache(maxsize=64)
def required_words(words, tokenizer, forbidden_ids, end_id):
    """Returns the `RequiredWords` of a tokenizer.

    Args:
        words: The required words, a tuple of texts.
        tokenizer: The `Tokenizer` of the answers.
        forbidden_ids: Tokens that are never generated, a tuple.
        end_id: Token that ends an answer.

    Raises:
        InputError: If the tokenizer cannot spell a word.
    """
    return RequiredWords(tuple(RequiredWord.of(word, tokenizer, forbidden_ids, end_id) for word in words))
