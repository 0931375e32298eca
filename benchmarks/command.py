"""Command-line functions shared by the benchmarks."""

import argparse
import datetime
import pathlib
import shlex
import sys

from benchmarks.corpus import SMALL_TALK
from benchmarks.machine import describe_machine, describe_versions
from benchmarks.programs import Failed
from benchmarks.results import RESULTS, without_folders
from keras_transformer import InputError

FAILED, WRONG_INPUT, INTERRUPTED = 1, 2, 130


def make_parser(about, name):
    """Creates a parser with the options of every benchmark.

    Args:
        about: The docstring of the benchmark.
        name: The name of its module, without the package; None for the package itself.

    Returns:
        An `argparse.ArgumentParser`.
    """
    program = f"python -m benchmarks.{name}" if name else "python -m benchmarks"
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(program, description=about, formatter_class=kind)
    parser.add_argument(
        "--results", type=pathlib.Path, default=RESULTS, metavar="FILE",
        help="file for the results (default: benchmarks/RESULTS.md)",
    )  # fmt: skip
    return parser


def add_peer_folder(parser):
    """Adds the options of a benchmark that compares with peers."""
    parser.add_argument("--peers", type=folder, metavar="FOLDER", help="folder of the peers' scripts")
    parser.add_argument(
        "--peers-python", default=sys.executable, metavar="PYTHON",
        help="Python interpreter of the peers (default: this one)",
    )  # fmt: skip


def add_peer_options(parser):
    """Adds the options of a benchmark that trains on a corpus and compares with peers."""
    add_peer_folder(parser)
    parser.add_argument(
        "--corpus", type=pathlib.Path, default=SMALL_TALK, metavar="FILE",
        help="corpus to train on (default: small_talk)",
    )  # fmt: skip


def folder(text):
    """Returns the path of an existing folder, for argparse."""
    if not pathlib.Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text}: no such folder")
    return pathlib.Path(text).resolve()


def at_least(least):
    """Returns a function for argparse that parses an integer of at least `least`."""

    def number(text):
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {text}")
        return int(text)

    return number


def provenance(name, arguments, peers_python=None):
    """Describes how, when and where results were measured: the command, the date, the machine and the versions.

    Args:
        name: The name of the benchmark's module.
        arguments: Its arguments; None for those of this process.
        peers_python: The Python interpreter of the peers, if there are any.

    Returns:
        A paragraph of Markdown.
    """
    words = sys.argv[1:] if arguments is None else map(str, arguments)
    command = without_folders(" ".join(map(shlex.quote, ["python", "-m", f"benchmarks.{name}", *words])))
    versions = describe_versions()
    if peers_python and (theirs := describe_versions(peers_python)) != versions:
        versions += f"; peers: {theirs}"
    return f"`{command}`, {datetime.date.today().isoformat()}.\n{describe_machine()}; {versions}."


def say(text):
    """Prints progress to standard error."""
    print(text, file=sys.stderr, flush=True)


def start(main):
    """Runs a benchmark as a program. Errors are printed in one line with a nonzero exit status, without a traceback."""
    try:
        main()
    except Failed as error:
        say(f"benchmarks: failed: {error}")
        sys.exit(FAILED)
    except InputError as error:
        say(f"benchmarks: error: {error}")
        sys.exit(WRONG_INPUT)
    except KeyboardInterrupt:
        say("\nStopped; the results are as they were.")
        sys.exit(INTERRUPTED)
