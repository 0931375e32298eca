"""The one normal form of text, used before training a tokenizer, before encoding, and when comparing."""

import re
import unicodedata

# Everything that Python or Unicode counts as space; spelled out so that the graph version (RE2) means the same set.
SPACES = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"


def normalize(text):
    """Composes characters (NFC), turns every run of white space into one space, and strips the ends.

    NFC matters for Hangul: the same syllable may arrive as one character or as up to three jamo.
    """
    return re.sub(SPACES, " ", unicodedata.normalize("NFC", text)).strip(" ")
