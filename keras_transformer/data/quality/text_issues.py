"""Detects problems in the texts of a corpus, and counts their characters."""

import collections
import dataclasses
import re
import unicodedata

import numpy as np

from keras_transformer.language import translatable
from keras_transformer.text.normalize import compose

# Control characters that `text.normalize` does not treat as white space.
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")

# Soft hyphen, Hangul fillers, zero-width space and no-break space, direction marks. The joiners U+200C and U+200D are
# not included, because emoji, Persian and Indian scripts need them.
INVISIBLE = re.compile(r"[\xad\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]")

# The bytes 0x80 to 0xbf as characters of Latin-1 and CP1252; these are the continuation bytes of UTF-8.
_GOES_ON = (
    "\x80-\xbf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013\u2014\u2018-\u201a\u201c-\u201e"
    "\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122"
)
# Decoding UTF-8 with one of these turns é into Ã©, and 안녕 into ì•ˆë…•; decoding CP949 turns the latter into ¾È³ç.
MIS_DECODED = re.compile(
    f"[\xc2\xc3][{_GOES_ON}]|(?:[\xe0-\xef][{_GOES_ON}]{{2}}){{2}}|(?:[\xb0-\xc8][\xa1-\xfe]){{2}}"
)

NOT_COMPOSED = translatable("letters in parts (NFD)")

FAULTS = {
    NOT_COMPOSED: lambda text: compose(text) != text,
    translatable("control characters"): CONTROL.search,
    translatable("invisible characters"): INVISIBLE.search,
    translatable("replacement characters (U+FFFD)"): lambda text: "\ufffd" in text,
    translatable("text read in a wrong encoding"): MIS_DECODED.search,
}
"""Names of problems and functions that detect them."""


def text_faults(text):
    """Returns the names of the `FAULTS` in a text."""
    if text.isascii() and text.isprintable():  # A fast path for most English texts, which cannot have faults.
        return []
    return [name for name, has in FAULTS.items() if has(text)]


BATCH = 1_000_000  # Number of characters counted at a time.
CODES = 0x110000
RAREST_NAMED = 10


@dataclasses.dataclass(frozen=True)
class Characters:
    """The characters of a corpus, without white space.

    Attributes:
        different: Number of distinct characters.
        once: Number of characters that occur once.
        twice: Number of characters that occur twice.
        rarest: Dictionary from a few of these rare characters to the row of their first occurrence.
        scripts: Dictionary from each script (of letters, or "emoji") to its share of all characters, largest first.
    """

    different: int
    once: int
    twice: int
    rarest: dict
    scripts: dict


class CharacterCount:
    """Counts the characters of texts, and stores the row of their first occurrence."""

    def __init__(self):
        self._counts = np.zeros(CODES, np.int64)
        self._first = {}
        self._texts, self._waiting = [], 0

    def add(self, row, text):
        """Counts the characters of a text in a row."""
        for character in set(text).difference(self._first):
            self._first[character] = row
        self._texts.append(text)
        self._waiting += len(text)
        if self._waiting >= BATCH:
            self._count()

    def _count(self):
        codes = np.frombuffer("".join(self._texts).encode("utf-32-le"), np.uint32)
        self._counts += np.bincount(codes, minlength=CODES)
        self._texts, self._waiting = [], 0

    def result(self):
        """Returns the `Characters` of all added texts."""
        self._count()
        counts = {chr(code): int(self._counts[code]) for code in np.flatnonzero(self._counts)}
        counts = {character: count for character, count in counts.items() if not character.isspace()}
        rare = sorted((count, self._first[one], one) for one, count in counts.items() if count <= 2)
        values = collections.Counter(counts.values())
        return Characters(
            len(counts), values[1], values[2],
            {one: row for _, row, one in rare[:RAREST_NAMED]},
            script_shares(counts),
        )  # fmt: skip


def script_shares(counts):
    """Returns the share of each script, largest first, from counts of characters."""
    scripts = collections.Counter()
    for character, count in counts.items():
        scripts[script(character)] += count
    total = scripts.total()
    return {name: count / total for name, count in scripts.most_common() if name}


def script(character):
    """Returns the script of a letter ("Hangul"), or "emoji"; None for digits, punctuation and other characters.

    The standard library has no script property, but the Unicode names of letters start with their script.
    """
    character = unicodedata.normalize("NFKC", character)[0]
    category = unicodedata.category(character)
    if category == "So" and ("\u2600" <= character <= "\u27bf" or character >= "\U0001f000"):
        return "emoji"
    if category[0] != "L":
        return None
    name = unicodedata.name(character, "OTHER").split()[0]
    return "Han" if name == "CJK" else name.capitalize()
