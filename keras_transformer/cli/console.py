"""What every command does: print columns, and end with one clear line and an exit status."""

import argparse
import importlib.util
import itertools
import os
import re

from keras_transformer.errors import InputError


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


EXAMPLE = "Example:  "
BACKENDS = ("tensorflow", "jax", "torch")


def add_command(commands, name, command, what, example):
    """A sub-command with its help and an example."""
    sub = commands.add_parser(
        name, help=what, description=what[0].upper() + what[1:] + ".", epilog=f"{EXAMPLE}{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    sub.set_defaults(command=command)
    return sub


def examples_of(commands):
    """A line with the example of each sub-command, in their order."""
    return "\n".join(f"  {sub.epilog.removeprefix(EXAMPLE)}" for sub in commands.choices.values())


def check_utf8(what, text):
    """Raises `InputError` for an argument as a terminal of another encoding sends it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{what} is not UTF-8") from error


def check_backend():
    """Raises `InputError` if the environment asks Keras for a backend that is not there."""
    backend = os.environ.get("KERAS_BACKEND", "tensorflow")
    if backend not in BACKENDS:
        raise InputError(f"KERAS_BACKEND={backend}: must be one of {', '.join(BACKENDS)}")
    if importlib.util.find_spec(backend) is None:
        raise InputError(f"KERAS_BACKEND={backend}: that package is missing: pip install {backend}")
