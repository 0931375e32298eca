"""Decomposition of Hangul syllables into letters (jamo), with rules stored in the SentencePiece model.

한 becomes three letters, ᄒ ᅡ ᆫ (Unicode's canonical decomposition, NFD, of Hangul only), so 67 letters cover all 11,172
syllables. Any program that loads the model, in a graph or in another language, decomposes and composes the same way.
"""

import contextlib
import pathlib
import re
import tempfile
import unicodedata

from keras_transformer.errors import temporary_space
from keras_transformer.language import translate as _

SYLLABLES = range(0xAC00, 0xD7A4)
FINALS = 28  # Syllables with the same first two letters are consecutive, and the first of each 28 has no third letter.
INITIALS = range(0x1100, 0x1113)  # Letters that can precede a vowel.
HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")


@contextlib.contextmanager
def rules():
    """Context manager that writes the SentencePiece rules for splitting and composing to two temporary files."""
    pairs = [(code(chr(syllable)), code(split(chr(syllable)))) for syllable in SYLLABLES]
    with tempfile.TemporaryDirectory() as folder:
        splitting, composing = pathlib.Path(folder) / "split.tsv", pathlib.Path(folder) / "compose.tsv"
        with temporary_space(_("the rules for Hangul letters")):
            splitting.write_text("".join(f"{syllable}\t{letters}\n" for syllable, letters in pairs))
            composing.write_text("".join(f"{letters}\t{syllable}\n" for syllable, letters in pairs))
        yield {"normalization_rule_tsv": str(splitting), "denormalization_rule_tsv": str(composing)}


def code(text):
    """Returns the code points of a text in the format of SentencePiece rules."""
    return " ".join(f"{ord(character):X}" for character in text)


def split(text):
    """Splits the Hangul syllables of a text into letters and leaves the rest unchanged."""
    return "".join(unicodedata.normalize("NFD", c) if ord(c) in SYLLABLES else c for c in text)


def may_grow(text):
    """Returns whether a following letter could change the last syllable of a text."""
    last = ord(text[-1]) if text else 0
    return last in INITIALS or (last in SYLLABLES and (last - SYLLABLES.start) % FINALS == 0)


def mostly_korean(texts):
    """Returns whether most texts of a list contain Hangul."""
    return 2 * sum(bool(HANGUL.search(text)) for text in texts) > len(texts)
