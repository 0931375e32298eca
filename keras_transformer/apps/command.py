"""What commands have in common: a grammar with an example."""

import argparse

from keras_transformer.errors import InputError

EXAMPLE = "Example:  "


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
