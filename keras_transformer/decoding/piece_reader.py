"""Words as tables over the tokens of a tokenizer, however these split them."""

import collections
import dataclasses
import functools

import numpy as np

from keras_transformer.decoding import ops
from keras_transformer.decoding.phrases import FOUND, OTHER, Phrases
from keras_transformer.padding import PAD_ID

NEVER = 2**20  # Tokens: more than any answer has.


@dataclasses.dataclass(frozen=True, eq=False)
class TokenTable:
    """The places that answers can have in words, and how tokens lead from one to another.

    Tokens with the same effect at all places form a class. Place 0 is that of an empty answer.

    Attributes:
        classes: The class of each token, int32 (vocab_size,).
        next: The place after a token of each class, int32 (places, classes).
    """

    classes: np.ndarray
    next: np.ndarray

    def follow(self, places, tokens):
        """Returns the places after further tokens, int32."""
        flat = ops.convert_to_tensor(self.next.reshape(-1))
        return ops.take(flat, places * self.next.shape[1] + ops.take(ops.convert_to_tensor(self.classes), tokens))


def fewest_tokens(after, goals):
    """Returns the fewest tokens that lead from each place to a goal, int32; `NEVER` where none do.

    Args:
        after: The places after tokens, int32 (places, classes).
        goals: Whether each place is a goal, bool.
    """
    steps = np.where(goals, 0, NEVER)
    while True:
        shorter = np.where(goals, 0, np.minimum(NEVER, 1 + steps[after].min(axis=1)))
        if (shorter == steps).all():
            return steps.astype("int32")
        steps = shorter


class PieceReader:
    """Reads the pieces of a tokenizer with `Phrases`. Its place is a pair of a started character and their state.

    A single byte is a lone surrogate, as Python's "surrogateescape" has it. Bytes are put together to the characters of
    the phrases.

    Args:
        tokenizer: The `Tokenizer`.
        phrases: The phrases, texts.
        other: What stands for any other character that is spelled in bytes: `OTHER`, which ends a word, or `ANY`.
    """

    start = ("", Phrases.start)

    def __init__(self, tokenizer, phrases, other=OTHER):
        self.texts, self.other = tokenizer.texts(), other
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
        return self.reduced(byte) if byte.isascii() else byte if byte in self.bytes else self.other

    def reduced(self, text):
        """Returns a text as the phrases spell it."""
        return self.phrases.reduced(self.spelled(text))

    def is_pending(self, place):
        """Returns whether a phrase was read that another piece may still lengthen to another word."""
        return place != FOUND and self.phrases.is_pending(place[1])

    def table(self, forbidden_ids, end_id):
        """Tabulates the places.

        Args:
            forbidden_ids: Tokens that are never generated, a tuple.
            end_id: Token that ends an answer.

        Returns:
            A tuple of the `TokenTable`, whether a phrase is pending at each place, and the number of the place of found
            phrases. The last two classes are those of `end_id`, which leads there from pending places, and of the
            tokens that are never generated, which always do.
        """
        never = {PAD_ID, *forbidden_ids}
        spellings = {
            token: self.symbols_of(text)
            for token, text in enumerate(self.texts)
            if token != end_id and token not in never
        }
        kinds = {spelling: number for number, spelling in enumerate(dict.fromkeys(spellings.values()))}
        places, moves = self.explore({symbol for spelling in kinds for symbol in spelling})
        pending = np.array([self.is_pending(place) for place in places])
        here, found = np.arange(len(places)), places[FOUND]
        columns = [functools.reduce(lambda place, symbol: moves[symbol][place], kind, here) for kind in kinds]
        after = np.stack([*columns, np.where(pending, found, here), np.full_like(here, found)], axis=1).astype("int32")
        classes = np.full(len(self.texts), len(kinds) + 1, "int32")
        if end_id not in never:
            classes[end_id] = len(kinds)
        classes[list(spellings)] = [kinds[spelling] for spelling in spellings.values()]
        return TokenTable(classes, after), pending, found

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
            return self.read(beyond(self.phrases.read(state, self.other)), symbol)
        return beyond(self.phrases.read(state, self.other if symbol in self.bytes else symbol))


def beyond(state):
    """Returns the place with a state of the `Phrases` after a whole character."""
    return FOUND if state == FOUND else ("", state)


def as_surrogates(data):
    """Returns bytes as text, where each byte beyond ASCII is a lone surrogate."""
    return "".join(chr(byte) if byte < 128 else chr(0xDC00 + byte) for byte in data)
