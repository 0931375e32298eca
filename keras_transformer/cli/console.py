"""Console helpers shared by the commands: aligned tables, wrapping, argument checks."""

import argparse
import difflib
import importlib.util
import itertools
import os
import re

from keras_transformer.cli.language_option import add_language_option
from keras_transformer.compat import HelpByColumns, ParserWithChoices, actions_of
from keras_transformer.errors import InputError
from keras_transformer.language import ENGLISH, current_language
from keras_transformer.language import translate as _
from keras_transformer.printable import printable, printable_line


def fill_columns(text, columns, right=False):
    """Pads a text with spaces to a width in columns, aligned left, or right if `right` is true."""
    from rich.cells import cell_len

    spaces = " " * (columns - cell_len(text))
    return spaces + text if right else text + spaces


def echo(*texts, **options):
    """Prints like `print`, with the characters escaped that would control the terminal."""
    print(*(printable(str(text)) for text in texts), **options)


def table(rows, right=()):
    """Returns rows of texts as an aligned table; `right` holds the indices of right-aligned columns."""
    from rich.cells import cell_len

    rows = [[*map(printable_line, row)] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*rows)]
    cells = (
        [fill_columns(cell, width, i in right) for i, (cell, width) in enumerate(zip(row, widths))] for row in rows
    )
    return "\n".join("  ".join(row).rstrip() for row in cells)


def wrap(text, columns):
    """Yields a text as lines of at most `columns` columns; a word is broken only if it is longer than a line."""
    for line in text.splitlines() or [""]:
        yield from wrap_line(printable(line), columns)


def fitted(line, columns):
    """Returns a line with its indent, wrapped between words; a command stays whole, so that it can be copied."""
    text = line.lstrip(" ")
    indent = line[: len(line) - len(text)]
    if not text or text.startswith("keras-transformer "):
        return line
    first, *others = wrap_line(text, columns - len(indent) - HANGING)
    return "\n".join([indent + first, *(" " * HANGING + indent + one for one in others)])


def wrap_line(text, columns):
    """Yields the wrapped lines of a text without line breaks."""
    from rich.cells import cell_len

    line = ""
    # Words with their leading white space; a word longer than a line is split into characters.
    words = re.findall(r"\s*\S+", text)
    for piece in itertools.chain.from_iterable([word] if cell_len(word) <= columns else word for word in words):
        if line and cell_len(line) + cell_len(piece) > columns:
            yield line
            line = ""
        line += piece if line else piece.lstrip()
    yield line


HANGING = 2  # Columns by which the lines after the first one are indented further.
BACKENDS = ("tensorflow", "jax", "torch")
CLOSE = 0.8  # Minimum similarity of a misspelled option or run to the one that is suggested.


class CommandParser(ParserWithChoices):
    """The parser of a command, which names the nearest command or value in place of a mistyped one."""

    def refuse_choice(self, action, value):
        near = difflib.get_close_matches(str(value), map(str, action.choices), 1)
        if not near:
            return
        if not action.option_strings:
            self.error(_("unknown command: {name}; did you mean {command}?", name=value, command=near[0]))
        message = _("invalid choice: {value!r}; did you mean {choice}?", value=value, choice=near[0])
        raise argparse.ArgumentError(action, message)


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
    sub.set_defaults(command=command or help_of(sub), parser=sub)
    return sub


def parse(top, arguments):
    """Parses arguments; at an unknown option the process ends with the usage of its command and the nearest option."""
    options, unknown = top.parse_known_args(arguments)
    if unknown and (late := late_arguments(options.parser, unknown)):
        setattr(options, late.dest, [*getattr(options, late.dest), *unknown])
    elif unknown:
        options.parser.error(printable_line(unknown_in_words(options.parser, unknown)))
    return options


def late_arguments(parser, unknown):
    """Returns the action of a command that takes any number of words, if the unknown arguments are such words.

    After another argument, argparse takes none for it that follow an option, as in `answer RUN --cite QUESTION`.
    """
    *others, last = [action for action in actions_of(parser) if not action.option_strings] or [None]
    if others and last.nargs == argparse.ZERO_OR_MORE and not any(word.startswith("-") for word in unknown):
        return last
    return None


def unknown_in_words(parser, unknown):
    """Returns the message about arguments that a command does not know."""
    shown = " ".join(unknown)
    flag = next((word for word in unknown if word.startswith("-")), "").partition("=")[0]
    near = difflib.get_close_matches(flag, option_strings(parser), 1, CLOSE) if flag else []
    if near:
        return _("unrecognized arguments: {arguments}; did you mean {option}?", arguments=shown, option=near[0])
    return _("unrecognized arguments: {arguments}", arguments=shown)


def option_strings(parser):
    """Returns the options of a command as they are written."""
    return [option for action in actions_of(parser) for option in action.option_strings]


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
