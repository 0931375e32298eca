"""What the two command lines of this benchmark share."""

import argparse
import pathlib

from benchmarks.command import at_least

WORK = pathlib.Path("runs") / "korean_chatbot"


def make_parser(name, about, document):
    """A command line with the options that both have.

    Args:
        name: The module.
        about: Its docstring.
        document: The file that it writes.
    """
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(f"python -m benchmarks.{name}", description=about, formatter_class=kind)
    parser.add_argument("corpus", type=pathlib.Path, metavar="CORPUS", help="pairs, as `keras-transformer train` reads")
    parser.add_argument(
        "--work", type=pathlib.Path, default=WORK, metavar="FOLDER",
        help="keeps runs and answers from one start to the next (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--epochs", type=at_least(1), metavar="N", help="of ours, at most (default: as the settings say)"
    )
    parser.add_argument(
        "--results", type=pathlib.Path, metavar="FILE", help=f"the document (default: benchmarks/{document.name})"
    )
    return parser


def settings_file(name):
    """The file of the settings of that name."""
    return pathlib.Path(__file__).with_name(f"{name.replace(' ', '_')}.toml")
