"""Console helpers shared by the commands: aligned tables, wrapping, argument checks."""

import argparse
import importlib.util
import itertools
import os
import re

from keras_transformer.errors import InputError


def fill_columns(text, columns, right=False):
    """Pads a text with spaces to a width in columns, aligned left, or right if `right` is true."""
    from prompt_toolkit.utils import get_cwidth

    spaces = " " * (columns - get_cwidth(text))
    return spaces + text if right else text + spaces


def table(rows, right=()):
    """Returns rows of texts as an aligned table; `right` holds the indices of right-aligned columns."""
    from prompt_toolkit.utils import get_cwidth

    rows = list(rows)
    widths = [max(map(get_cwidth, column)) for column in zip(*rows)]
    cells = (
        [fill_columns(cell, width, i in right) for i, (cell, width) in enumerate(zip(row, widths))] for row in rows
    )
    return "\n".join("  ".join(row).rstrip() for row in cells)


def wrap(text, columns):
    """Yields a text as lines of at most `columns` columns; a word is broken only if it is longer than a line."""
    for line in text.splitlines() or [""]:
        yield from wrap_line(line, columns)


def wrap_line(text, columns):
    """Yields the wrapped lines of a text without line breaks."""
    from prompt_toolkit.utils import get_cwidth

    line = ""
    # Words with their leading white space; a word longer than a line is split into characters.
    words = re.findall(r"\s*\S+", text)
    for piece in itertools.chain.from_iterable([word] if get_cwidth(word) <= columns else word for word in words):
        if line and get_cwidth(line) + get_cwidth(piece) > columns:
            yield line
            line = ""
        line += piece if line else piece.lstrip()
    yield line


EXAMPLE = "Example:  "
BACKENDS = ("tensorflow", "jax", "torch")


def add_command(commands, name, command, what, example, **options):
    """Adds a subcommand with its help text and an example; returns its parser. Without a command it prints its help."""
    sub = commands.add_parser(
        name, help=what, description=what[0].upper() + what[1:] + ".", epilog=f"{EXAMPLE}{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter, **options,
    )  # fmt: skip
    sub.set_defaults(command=command or help_of(sub))
    return sub


def help_of(parser):
    """Returns a command that prints the help of a parser, for one that was called without a subcommand."""

    def command(options):
        parser.print_help()
        return 0

    return command


def examples_of(commands):
    """Returns the examples of all subcommands, one per line."""
    return "\n".join(f"  {sub.epilog.removeprefix(EXAMPLE)}" for sub in commands.choices.values())


def check_utf8(what, text):
    """Raises `InputError` if an argument is not UTF-8, as from a terminal with another encoding."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{what} is not UTF-8") from error


def check_backend():
    """Raises `InputError` if `KERAS_BACKEND` names an unknown or missing backend."""
    backend = os.environ.get("KERAS_BACKEND", "tensorflow")
    if backend not in BACKENDS:
        raise InputError(f"KERAS_BACKEND={backend}: must be one of {', '.join(BACKENDS)}")
    if importlib.util.find_spec(backend) is None:
        raise InputError(f"KERAS_BACKEND={backend}: the package is not installed: pip install {backend}")
