"""Console helpers shared by the commands: aligned tables, wrapping, argument checks."""

import importlib.util
import itertools
import os
import re

from keras_transformer.cli.language_option import add_language_option
from keras_transformer.compat import HelpByColumns
from keras_transformer.errors import InputError
from keras_transformer.language import ENGLISH, current_language
from keras_transformer.language import translate as _


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


BACKENDS = ("tensorflow", "jax", "torch")


def add_command(commands, name, command, what, example, **options):
    """Adds a subcommand with its help text and an example; returns its parser. Without a command it prints its help.

    A parser with `add_help=False` in its options also gets its option `--lang` elsewhere.
    """
    sub = commands.add_parser(
        name, help=what, description=sentence(what), epilog=example_line(example),
        formatter_class=HelpByColumns, **options,
    )  # fmt: skip
    if sub.add_help:
        add_language_option(sub)
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
    return "\n".join(f"  {example_of(sub)}" for sub in commands.choices.values())


def sentence(clause):
    """Returns a help text as a sentence; only in English does one begin with a capital letter."""
    first = clause[:1].upper() if current_language() == ENGLISH else clause[:1]
    return f"{first}{clause[1:].rstrip('.')}."


def example_line(example):
    """Returns an example as the last line of a help text."""
    return _("Example:  {command}", command=example)


def example_of(parser):
    """Returns the example of a parser that `add_command` made."""
    return parser.epilog.removeprefix(example_line(""))


def check_utf8(what, text):
    """Raises `InputError` if an argument is not UTF-8, as from a terminal with another encoding."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(_("{what} is not UTF-8", what=what)) from error


def check_backend():
    """Raises `InputError` if `KERAS_BACKEND` names an unknown or missing backend."""
    backend = os.environ.get("KERAS_BACKEND", "tensorflow")
    if backend not in BACKENDS:
        raise InputError(
            _("KERAS_BACKEND={backend}: must be one of {backends}", backend=backend, backends=", ".join(BACKENDS))
        )
    if importlib.util.find_spec(backend) is None:
        raise InputError(
            _("KERAS_BACKEND={backend}: the package is not installed: pip install {backend}", backend=backend)
        )
