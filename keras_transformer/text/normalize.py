"""Text normalization, applied before training a tokenizer, before tokenizing, and before comparing texts."""

import re
import unicodedata

# All characters that Python or Unicode treats as white space. Explicit, so that RE2 in a graph matches the same set.
SPACES = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"


def normalize(text):
    """Applies Unicode NFC, collapses white space into single spaces and strips the ends.

    NFC matters for Hangul, where a syllable can be encoded as one character or as up to three jamo.
    """
    return re.sub(SPACES, " ", unicodedata.normalize("NFC", text)).strip(" ")
