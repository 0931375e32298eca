"""What a text is but for its spelling: near-equal texts have the same key."""

import unicodedata


class _Letters(dict):
    """For `str.translate`: takes out punctuation, symbols, white space and controls."""

    def __missing__(self, code):
        self[code] = None if unicodedata.category(chr(code))[0] in "CPSZ" else code
        return self[code]


_LETTERS = _Letters()


def likeness_key(text):
    """A text in its compatibility form (NFKC), without case, punctuation, symbols and white space.

    "Hello!", "hello" and "ＨＥＬＬＯ ～" have the same key. Of a text without letters and digits nothing is left.
    """
    return unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
