"""What commands have in common: a grammar with an example."""

import argparse
import importlib.util
import os

from keras_transformer.errors import InputError

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
