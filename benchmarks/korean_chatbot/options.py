"""Options shared by the two command lines of this benchmark."""

import argparse
import pathlib

from benchmarks.command import at_least

WORK = pathlib.Path("runs") / "korean_chatbot"


def make_parser(name, about, document):
    """Returns a parser with the shared options.

    Args:
        name: The name of the module.
        about: The docstring of the module.
        document: The file that the module writes.
    """
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(f"python -m benchmarks.{name}", description=about, formatter_class=kind)
    parser.add_argument("corpus", type=pathlib.Path, metavar="CORPUS", help="corpus, as for `keras-transformer train`")
    parser.add_argument(
        "--work", type=pathlib.Path, default=WORK, metavar="FOLDER",
        help="folder for runs and answers (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--epochs", type=at_least(1), metavar="N", help="maximum epochs of ours (default: from the settings)"
    )
    parser.add_argument(
        "--results",
        type=pathlib.Path,
        metavar="FILE",
        help=f"file for the document (default: benchmarks/{document.name})",
    )
    return parser


def settings_file(name):
    """Returns the path of the settings with this name."""
    return pathlib.Path(__file__).with_name(f"{name.replace(' ', '_')}.toml")
