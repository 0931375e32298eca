"""Forbidden words as a table over tokens, so that no answer contains them, however they are split into tokens."""

import collections
import dataclasses
import functools

import numpy as np

from keras_transformer.decoding import ops
from keras_transformer.decoding.phrases import FOUND, OTHER, Phrases
from keras_transformer.padding import PAD_ID

NEVER = 2**20  # Tokens: more than any answer has.
# Log-probability of a longer word after a token that ends with a forbidden one. Most words end with their last token,
# so a token is less likely if only a longer word is allowed after it; else greedy decoding ends up there more often and
# has to make one up. Far less would keep words such as "returns" from being said where "return" is forbidden.
LONGER_WORD = float(np.log(0.01))


@dataclasses.dataclass(frozen=True, eq=False)
class ForbiddenWords:
    """The places that answers can have in forbidden words, and how tokens lead from one to another.

    Tokens with the same effect at all places form a class. Place 0 is that of an empty answer.

    Attributes:
        classes: The class of each token, int32 (vocab_size,).
        next: The place after a token of each class, int32 (places, classes).
        steps: The fewest tokens from each place to one where the answer may end, int32 (places,): 0 at most places, and
            `NEVER` where a word was found.
    """

    classes: np.ndarray
    next: np.ndarray
    steps: np.ndarray

    def follow(self, places, tokens):
        """Returns the places after further tokens, int32."""
        flat = ops.convert_to_tensor(self.next.reshape(-1))
        return ops.take(flat, places * self.next.shape[1] + ops.take(ops.convert_to_tensor(self.classes), tokens))

    def is_past(self, places):
        """Returns whether the answer may end at each place."""
        return ops.equal(ops.take(ops.convert_to_tensor(self.steps), places), 0)

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
        before = ops.where(self.is_past(places), 0.0, LONGER_WORD)
        bonus = ops.where(ops.equal(steps, 0), 0.0, LONGER_WORD) - ops.expand_dims(before, 1)
        classes = ops.convert_to_tensor(self.classes)
        return ops.take(steps > left, classes, axis=1), ops.take(bonus, classes, axis=1)


@functools.lru_cache(maxsize=64)
def forbidden_words(tokenizer, phrases, forbidden_ids, end_id):
    """Returns the `ForbiddenWords` of a tokenizer.

    Args:
        tokenizer: The `Tokenizer` of the answers.
        phrases: The forbidden words, a tuple of texts.
        forbidden_ids: Further tokens that are never generated, a tuple.
        end_id: Token that ends an answer.
    """
    reader = PieceReader(tokenizer, phrases)
    spellings = [reader.symbols_of(text) for text in tokenizer.texts()]
    kinds = {spelling: number for number, spelling in enumerate(dict.fromkeys(spellings))}
    places, moves = reader.explore({symbol for spelling in kinds for symbol in spelling})
    pending = np.array([reader.is_pending(place) for place in places])
    here, found = np.arange(len(places)), places[FOUND]
    columns = [functools.reduce(lambda place, symbol: moves[symbol][place], kind, here) for kind in kinds]
    table = np.stack([*columns, np.where(pending, found, here), np.full_like(here, found)], axis=1).astype("int32")
    classes = np.array([kinds[spelling] for spelling in spellings], "int32")
    classes[end_id] = len(kinds)
    classes[[token for token in (PAD_ID, *forbidden_ids) if token < len(classes)]] = len(kinds) + 1
    return ForbiddenWords(classes, table, fewest_steps(table, pending, found))


def fewest_steps(table, pending, found):
    """Returns the attribute `steps` of `ForbiddenWords`, given which places are pending and the one of found words."""
    steps = np.where(pending, NEVER, 0)
    steps[found] = NEVER
    while True:
        shorter = np.where(steps == 0, 0, np.minimum(NEVER, 1 + steps[table].min(axis=1)))
        if (shorter == steps).all():
            return steps.astype("int32")
        steps = shorter


class PieceReader:
    """Reads the pieces of a tokenizer with `Phrases`. Its place is a pair of a started character and their state.

    A single byte is a lone surrogate, as Python's "surrogateescape" has it. Bytes are put together to the characters of
    the phrases; any other character that is spelled in bytes counts as one that ends a word.

    Args:
        tokenizer: The `Tokenizer`.
        phrases: The phrases, texts.
    """

    start = ("", Phrases.start)

    def __init__(self, tokenizer, phrases):
        normalized = [normal for phrase in phrases if (normal := tokenizer.normal_form(phrase))]
        self.spelled = tokenizer.spelled
        self.phrases = Phrases([self.spelled(phrase) for phrase in normalized])
        characters = self.phrases.characters.union(*normalized)
        variants = {form for c in characters for form in (c, c.lower(), c.upper(), c.title()) if not form.isascii()}
        self.characters = {as_surrogates(form.encode()): self.reduced(form) for form in variants}
        self.beginnings = collections.defaultdict(set)  # Of characters in bytes, and what these may be read as.
        for whole, reduced in self.characters.items():
            for end in range(1, len(whole)):
                self.beginnings[whole[:end]].add(reduced[0])
        self.bytes = set("".join(self.characters))

    def symbols_of(self, text):
        """Returns what the reader reads of a piece: the same for all pieces with the same effect on every place."""
        if isinstance(text, str):
            return self.reduced(text)
        byte = as_surrogates(text)
        return self.reduced(byte) if byte.isascii() else byte if byte in self.bytes else OTHER

    def reduced(self, text):
        """Returns a text as the phrases spell it."""
        return self.phrases.reduced(self.spelled(text))

    def is_pending(self, place):
        """Returns whether a phrase was read that another piece may still lengthen to another word."""
        return place != FOUND and self.phrases.is_pending(place[1])

    def explore(self, symbols):
        """Numbers the places that can be reached with some symbols, in the order of their distance from the start.

        Returns:
            A tuple of a dictionary from each place, and `FOUND`, to its number, and a dictionary from each symbol to
            the numbers of the places after it, an array with an entry for each place.
        """
        places, moves = {self.start: 0}, {symbol: [] for symbol in symbols}
        queue = [self.start]
        for place in queue:
            for symbol in symbols:
                after = self.read(place, symbol)
                if after not in places:
                    places[after] = len(places)
                    queue.append(after)
                moves[symbol].append(places[after])
        if FOUND not in places:
            places[FOUND] = len(places)
            for symbol in symbols:
                moves[symbol].append(places[FOUND])
        return places, {symbol: np.array(numbers) for symbol, numbers in moves.items()}

    def read(self, place, symbol):
        """Returns the place after a symbol: a character, or a byte of one."""
        if place == FOUND:
            return FOUND
        started, state = place
        if (whole := started + symbol) in self.characters:
            return beyond(self.phrases.read(state, self.characters[whole]))
        if whole in self.beginnings:
            return whole, self.phrases.before(state, self.beginnings[whole])
        if started:  # It stays incomplete.
            return self.read(beyond(self.phrases.read(state, OTHER)), symbol)
        return beyond(self.phrases.read(state, OTHER if symbol in self.bytes else symbol))


def beyond(state):
    """Returns the place with a state of the `Phrases` after a whole character."""
    return FOUND if state == FOUND else ("", state)


def as_surrogates(data):
    """Returns bytes as text, where each byte beyond ASCII is a lone surrogate."""
    return "".join(chr(byte) if byte < 128 else chr(0xDC00 + byte) for byte in data)
