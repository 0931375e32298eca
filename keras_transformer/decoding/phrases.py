"""Finds phrases in a text that is read one character at a time."""

import collections

from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.text.normalize import check_unicode, normalize

FOUND = "found"
MOST_PHRASES = {"forbidden": 200, "required": 20}
MOST_CHARACTERS = 1000  # Of all phrases. The time to prepare them grows with their square, to some seconds.
BLANK = {
    "forbidden": translatable("a forbidden word is blank: write the word, or leave it out"),
    "required": translatable("a required word is blank: write the word, or leave it out"),
}
TOO_MANY = {
    "forbidden": translatable("too many forbidden words: at most {phrases} of {characters} characters together"),
    "required": translatable("too many required words: at most {phrases} of {characters} characters together"),
}

# Characters outside of all phrases are told apart only by what they do to a phrase beside them. These stand for them.
LETTER, FINAL, OTHER = "\ufdd0", "\ufdd1", "\ufdd2"  # Noncharacters: no text has them.
ANY = "\ufdd3"  # Stands for a character that may be any of these: no phrase is found for sure beside it.
VOWELS, FINALS = range(0x1161, 0x1176), range(0x11A8, 0x11C3)  # Letters of Hangul, where syllables are split.


class Phrases:
    """An automaton that reads a text character by character until it has found one of the phrases.

    A phrase is found as it is written, anywhere in a text, also within a Korean word: 고양이 is in 고양이는. Case is
    ignored, and a space matches any number of them. Where a phrase starts or ends with a digit or a letter of an
    alphabet with capital letters, the next character beyond must be none: "ass" is not in "class", and "PDF" is in
    "PDF를". Where Hangul is split into letters, phrases end with whole syllables: 가 is not in 각.

    Whether a phrase has ended there shows at the character that follows. Until then, it is pending.

    Args:
        phrases: The phrases, a list of normalized texts.

    Attributes:
        characters: The characters of the phrases, a set.

    Example:
        >>> phrases = Phrases(["cat", "고양이"])
        >>> [phrases.occur_in(text) for text in ("A cat!", "cats", "고양이는")]
        [True, False, True]
    """

    start: tuple[bool, frozenset] = (False, frozenset())
    """The state before a text: whether the last character belongs to a word, and how many characters of which phrases
    were read, a set of pairs."""

    def __init__(self, phrases):
        self.phrases = [phrase.casefold() for phrase in phrases]
        self.characters = set().union(*self.phrases)
        self._by_first = collections.defaultdict(list)
        for number, phrase in enumerate(self.phrases):
            self._by_first[phrase[0]].append((number, 1))

    def occur_in(self, text):
        """Returns whether a text contains a phrase."""
        state = self.read(self.start, normalize(text))
        return state == FOUND or self.is_pending(state)

    def read(self, state, text):
        """Returns the state after a further text, or `FOUND`."""
        for character in text.casefold():
            if state == FOUND:
                break
            state = self._next(state, character)
        return state

    def is_pending(self, state):
        """Returns whether a phrase was read that the next character may still lengthen to another word."""
        return any(read == len(self.phrases[number]) for number, read in state[1])

    def before(self, state, characters):
        """Returns the state without the phrases that do not continue with one of the characters."""
        after_letter, reading = state
        return after_letter, frozenset(
            (number, read)
            for number, read in reading
            if read == len(self.phrases[number]) or self.phrases[number][read] in characters
        )

    def reduced(self, text):
        """Returns a text with characters outside of all phrases replaced by those that stand for them."""
        return "".join(c if c in self.characters else stand_in(c) for c in text.casefold())

    def _next(self, state, character):
        after_letter, reading = state
        now = set()
        for number, read in reading:
            phrase = self.phrases[number]
            if read == len(phrase):
                if not lengthens(phrase[-1], character):
                    return FOUND
            elif phrase[read] == character:
                now.add((number, read + 1))
            elif phrase[read - 1] == character == " ":
                now.add((number, read))
        if character in self._by_first and not (after_letter and in_word(character)):
            now.update(self._by_first[character])
        for number, read in now:
            if read == len(self.phrases[number]) and not may_be_lengthened(self.phrases[number][-1]):
                return FOUND
        return in_word(character), frozenset(now)


def stand_in(character):
    """Returns the character that stands for one outside of all phrases."""
    if in_word(character):
        return LETTER
    return FINAL if ord(character) in FINALS else OTHER


def in_word(character):
    """Returns whether words with this character end where another begins: a digit, or a letter that has a capital."""
    return character in (LETTER, ANY) or character.isdecimal() or character.lower() != character.upper()


def may_be_lengthened(last):
    """Returns whether a following character may turn the word or syllable that ends here into another."""
    return in_word(last) or ord(last) in VOWELS


def lengthens(last, character):
    """Returns whether a character turns the word or syllable that ends with `last` into another."""
    if ord(last) in VOWELS:
        return character in (FINAL, ANY) or ord(character) in FINALS
    return in_word(last) and in_word(character)


def checked_phrases(phrases, kind):
    """Returns phrases as a tuple without duplicates.

    Args:
        phrases: The phrases.
        kind: "forbidden" or "required".

    Raises:
        InputError: If they are no list of texts, one of them is blank or not valid Unicode, or they are too many.
    """
    if isinstance(phrases, str) or not all(isinstance(phrase, str) for phrase in phrases):
        raise InputError(
            _("{kind} must be a list of words, such as ('word',), not {phrases!r}", kind=kind, phrases=phrases)
        )
    for phrase in phrases:
        check_unicode(phrase)
        if not normalize(phrase):
            raise InputError(_(BLANK[kind]))
    if len(phrases) > MOST_PHRASES[kind] or sum(map(len, phrases)) > MOST_CHARACTERS:
        raise InputError(_(TOO_MANY[kind], phrases=MOST_PHRASES[kind], characters=MOST_CHARACTERS))
    return tuple(dict.fromkeys(phrases))
