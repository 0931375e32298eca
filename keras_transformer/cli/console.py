"""Text in columns of a terminal, where Hangul is twice as wide as Latin letters."""

import itertools
import re


def pad(text, columns, right=False):
    """A text filled up with spaces to so many columns, on its left side if it is to stand on the right."""
    from prompt_toolkit.utils import get_cwidth

    spaces = " " * (columns - get_cwidth(text))
    return spaces + text if right else text + spaces


def table(rows, right=()):
    """Rows of texts below each other, a text; `right` has the numbers of the columns that stand on the right."""
    from prompt_toolkit.utils import get_cwidth

    rows = list(rows)
    widths = [max(map(get_cwidth, column)) for column in zip(*rows)]
    cells = ([pad(cell, width, i in right) for i, (cell, width) in enumerate(zip(row, widths))] for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in cells)


def wrap(text, columns):
    """The lines of a text of at most so many columns, broken between words; in one only if it is longer than a line."""
    for line in text.splitlines() or [""]:
        yield from wrap_line(line, columns)


def wrap_line(text, columns):
    """The lines of a text without line breaks."""
    from prompt_toolkit.utils import get_cwidth

    line = ""
    # Words with the white space before them; what is longer than a line by itself comes in single characters.
    words = re.findall(r"\s*\S+", text)
    for piece in itertools.chain.from_iterable([word] if get_cwidth(word) <= columns else word for word in words):
        if line and get_cwidth(line) + get_cwidth(piece) > columns:
            yield line
            line = ""
        line += piece if line else piece.lstrip()
    yield line
