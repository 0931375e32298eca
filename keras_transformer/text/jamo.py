"""Hangul syllables as their letters (jamo), by rules that a SentencePiece model carries in itself.

한 is then three letters, ᄒ ᅡ ᆫ (Unicode's canonical decomposition, NFD, of Hangul alone), and a vocabulary of 67 letters
spells all 11,172 syllables. Whatever reads the model, in a graph or in another language, splits and composes alike.
"""

import contextlib
import pathlib
import tempfile
import unicodedata

SYLLABLES = range(0xAC00, 0xD7A4)
FINALS = 28  # Syllables with the same first two letters stand together; the first of them has no third.
INITIALS = range(0x1100, 0x1113)  # Letters that a vowel may follow.


@contextlib.contextmanager
def rules():
    """Writes SentencePiece's rules for splitting and for composing, two files that last as long as the block."""
    pairs = [(code(chr(syllable)), code(split(chr(syllable)))) for syllable in SYLLABLES]
    with tempfile.TemporaryDirectory() as folder:
        splitting, composing = pathlib.Path(folder) / "split.tsv", pathlib.Path(folder) / "compose.tsv"
        splitting.write_text("".join(f"{syllable}\t{letters}\n" for syllable, letters in pairs))
        composing.write_text("".join(f"{letters}\t{syllable}\n" for syllable, letters in pairs))
        yield {"normalization_rule_tsv": str(splitting), "denormalization_rule_tsv": str(composing)}


def code(text):
    """A text as SentencePiece's rules spell it."""
    return " ".join(f"{ord(character):X}" for character in text)


def split(text):
    """The text with its Hangul syllables as letters, and nothing else changed."""
    return "".join(unicodedata.normalize("NFD", c) if ord(c) in SYLLABLES else c for c in text)


def may_grow(text):
    """Whether the last syllable of a text is one that a letter after it would change."""
    last = ord(text[-1]) if text else 0
    return last in INITIALS or (last in SYLLABLES and (last - SYLLABLES.start) % FINALS == 0)
