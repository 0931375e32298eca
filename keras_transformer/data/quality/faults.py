"""What may be wrong with the characters of a text."""

import re
import unicodedata

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
