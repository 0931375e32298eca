"""Text of others on a terminal: what a corpus, a manifest or a question holds must not control it."""

import re

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except tab and line feed, line separators, overrides of the direction, halves of characters."""


def printable(text):
    r"""Returns a text with the characters escaped that control a terminal, as JSON does: ESC becomes \u001b.

    The result of JSON text is the same JSON. Tabs and line feeds stay.
    """
    return UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable_line(text):
    r"""Returns a text like `printable` as a single line: a line feed becomes \n."""
    return printable(text).replace("\n", r"\n")
