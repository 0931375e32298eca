"""Text normalization, applied before training a tokenizer, before tokenizing, and before comparing texts."""

import itertools
import re
import unicodedata

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

# All characters that Python or Unicode treats as white space. Explicit, so that RE2 in a graph matches the same set.
SPACES = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"


LONG = 256  # Characters. In a shorter text, marks are few enough to be sorted in whatever way.


def normalize(text):
    """Applies Unicode NFC, collapses white space into single spaces and strips the ends.

    NFC matters for Hangul, where a syllable can be encoded as one character or as up to three jamo.
    """
    return re.sub(SPACES, " ", compose(text)).strip(" ")


def check_unicode(text):
    """Raises `InputError` if a text is not valid Unicode: it contains half a character (a lone surrogate)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(_("{text!r} is not UTF-8", text=text)) from error


def compose(text):
    """Applies Unicode NFC.

    Python's own function moves combining marks one by one to their places, which takes the square of their number: for
    a long text of nothing but marks, minutes. Marks that are in order already take no time.
    """
    in_order = text if len(text) <= LONG or text.isascii() else decompose(text)
    return unicodedata.normalize("NFC", in_order)


def decompose(text):
    """Applies Unicode NFD. The time that it takes grows with the length of the text, times its logarithm."""
    characters = "".join(unicodedata.normalize("NFD", character) for character in text)
    runs = itertools.groupby(characters, key=lambda character: unicodedata.combining(character) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if marks else run) for marks, run in runs)
