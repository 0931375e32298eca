"""What commands have in common: a grammar with an example, and TensorFlow without its noise."""

import argparse
import os

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


def import_tensorflow_quietly():
    """Imports TensorFlow without its start-up messages, some of which no setting silences."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    kept = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        import tensorflow  # noqa: F401
    finally:
        os.dup2(kept, 2)
        os.close(kept)
