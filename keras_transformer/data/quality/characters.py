"""The characters of a corpus: how many different ones, the rare ones, and the scripts they belong to."""

import collections
import dataclasses
import unicodedata

import numpy as np

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
