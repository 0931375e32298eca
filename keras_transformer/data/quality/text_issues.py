"""What may be wrong with the texts of a corpus, and which characters they are made of."""

import collections
import dataclasses
import re
import unicodedata

import numpy as np

# What is neither text nor, to `text.normalize`, white space.
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")

# Soft hyphen, Hangul fillers, zero-width space and no-break space, marks of direction. The joiners U+200C and U+200D
# are not among them: emoji, Persian and the scripts of India need them.
INVISIBLE = re.compile(r"[\xad\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]")

# Bytes from 0x80 to 0xbf as the characters of Latin-1 and CP1252: in UTF-8 they go on with a character.
_GOES_ON = (
    "\x80-\xbf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013\u2014\u2018-\u201a\u201c-\u201e"
    "\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122"
)
# UTF-8 read as one of these turns é into Ã©, and 안녕 into ì•ˆë…•; CP949 read so turns it into ¾È³ç.
MIS_DECODED = re.compile(
    f"[\xc2\xc3][{_GOES_ON}]|(?:[\xe0-\xef][{_GOES_ON}]{{2}}){{2}}|(?:[\xb0-\xc8][\xa1-\xfe]){{2}}"
)

NOT_COMPOSED = "letters in parts (NFD)"

FAULTS = {
    NOT_COMPOSED: lambda text: not unicodedata.is_normalized("NFC", text),
    "control characters": CONTROL.search,
    "invisible characters": INVISIBLE.search,
    "replacement characters (U+FFFD)": lambda text: "\ufffd" in text,
    "text read in a wrong encoding": MIS_DECODED.search,
}
"""What may be wrong, and how it is found."""


def text_faults(text):
    """The names among `FAULTS` that a text has."""
    if text.isascii() and text.isprintable():  # Most of English: no fault can be in it.
        return []
    return [name for name, has in FAULTS.items() if has(text)]


BATCH = 1_000_000  # Characters that are counted at a time.
CODES = 0x110000
RAREST_NAMED = 10


@dataclasses.dataclass(frozen=True)
class Characters:
    """The characters of a corpus, white space left out.

    Attributes:
        different: How many different ones there are.
        once: How many of them are met once.
        twice: How many are met twice.
        rarest: From the first few of those to the row where each stands first.
        scripts: From each script (of letters; or "emoji") to its share of all characters, the largest first.
    """

    different: int
    once: int
    twice: int
    rarest: dict
    scripts: dict


class CharacterCount:
    """Counts the characters of texts, and keeps the row where each is met first."""

    def __init__(self):
        self._counts = np.zeros(CODES, np.int64)
        self._first = {}
        self._texts, self._waiting = [], 0

    def add(self, row, text):
        """Counts the characters of a text in this row."""
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
        """The `Characters` so far."""
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
    """The share of each script among characters, given how often each is met; the largest first."""
    scripts = collections.Counter()
    for character, count in counts.items():
        scripts[script(character)] += count
    total = scripts.total()
    return {name: count / total for name, count in scripts.most_common() if name}


def script(character):
    """The script of a letter ("Hangul"), or "emoji"; None for digits, punctuation and the like.

    The standard library knows no scripts, but the names that Unicode gives letters begin with them.
    """
    character = unicodedata.normalize("NFKC", character)[0]
    category = unicodedata.category(character)
    if category == "So" and ("\u2600" <= character <= "\u27bf" or character >= "\U0001f000"):
        return "emoji"
    if category[0] != "L":
        return None
    name = unicodedata.name(character, "OTHER").split()[0]
    return "Han" if name == "CJK" else name.capitalize()
