"""How long does training take to reach the quality of the tutorial?

    python -m benchmarks.time_to_quality --peers FOLDER [--corpus FILE]
    python -m benchmarks.time_to_quality --target BITS [--target-seconds S] [--corpus FILE]

The tutorial is trained for some epochs. Its best validation score, in bits per character, is the target. Our program
then trains until its score is at or below the target. Two times are reported: of the training steps only, and from the
start of the process until the score is known, including reading the corpus, tracing, validating and saving.
"""

import dataclasses
import math
import tempfile
from pathlib import Path

from benchmarks import ours, peers
from benchmarks.command import add_peer_options, at_least, make_parser, provenance, say, start
from benchmarks.corpus import Corpus
from benchmarks.programs import Failed, run_program
from benchmarks.results import publish, table, without_folders
from keras_transformer import PRESETS

NAME = "time_to_quality"
TUTORIAL = peers.Peer("tutorial", "float32", "tutorial_train.py")


@dataclasses.dataclass(frozen=True)
class Reached:
    """A score and the time to reach it.

    Attributes:
        bits: Validation bits per character.
        epochs: Number of epochs; None if unknown.
        train_s: Seconds of training steps; None if unknown.
        wall_s: Seconds from the start of the process; None if unknown.
    """

    bits: float
    epochs: int | None = None
    train_s: float | None = None
    wall_s: float | None = None


def best_epoch(epochs, arrivals):
    """Returns the `Reached` of the tutorial's best epoch, the first one if several are equal.

    Args:
        epochs: The figures printed for each epoch.
        arrivals: Seconds from the start until each epoch was printed.
    """
    if not epochs:
        raise Failed("the tutorial printed no figures")
    bits = [epoch["bits_per_char"] for epoch in epochs]
    best = bits.index(min(bits))
    return Reached(bits[best], best + 1, epochs[best]["train_s"], arrivals[best])


def run_tutorial(options, corpus, folder):
    """Trains the tutorial to its end; raises `Failed` if it cannot run."""
    arrivals = []

    def note_arrivals(seconds, output):
        for epoch in peers.read_epochs(output)[len(arrivals) :]:
            arrivals.append(seconds)
            say(f"  tutorial: {epoch['bits_per_char']:.3f} bits per character after {seconds:,.0f} s")

    words = peers.peer_command(options.peers_python, options.peers, TUTORIAL, corpus.for_peers(folder), options.epochs)
    outcome = run_program(words, note_arrivals).check()
    return best_epoch(peers.read_epochs(outcome.output), arrivals)


def first_at_or_below(rows, target):
    """Returns the number of our epochs until the target; None if it is not reached."""
    return next((number for number, row in enumerate(rows, 1) if row[ours.SCORE] <= target), None)


def run_ours(options, corpus, folder, target):
    """Trains ours until its score is at or below the target, or to its end.

    Returns:
        The `Reached` at the end, and whether the target was reached.
    """
    run = Path(folder) / "run"
    arrivals = []

    def at_target(seconds, output):
        rows = ours.read_metrics(run)
        for row in rows[len(arrivals) :]:
            arrivals.append(seconds)
            say(f"  ours: {row[ours.SCORE]:.3f} bits per character after {seconds:,.0f} s")
        return first_at_or_below(rows, target)

    outcome = run_program(ours.train_command(corpus.path, run, options.preset, options.precision), at_target)
    rows = ours.read_metrics(run)
    if epochs := first_at_or_below(rows, target):
        taken = ours.train_seconds(rows[:epochs], corpus.train_pairs)
        return Reached(rows[epochs - 1][ours.SCORE], epochs, taken, arrivals[epochs - 1]), True
    outcome.check()
    best = min((row[ours.SCORE] for row in rows), default=math.nan)
    return Reached(best, len(rows), ours.train_seconds(rows, corpus.train_pairs), outcome.seconds), False


def cells(name, reached):
    """Returns a row of the table."""
    epochs = "–" if reached.epochs is None else str(reached.epochs)
    seconds = ["–" if s is None else f"{s:,.0f}" for s in (reached.train_s, reached.wall_s)]
    return [name, f"{reached.bits:.3f}", epochs, *seconds]


def ratio(theirs, mine):
    """Returns the ratio of the tutorial's time to ours as text; a dash if one of them is unknown."""
    return f"{theirs / mine:.2f} ×" if theirs and mine else "–"


def report(theirs, mine, reached, label):
    """Returns the paragraphs of the results, without provenance."""
    given = theirs.epochs is None  # Given by --target, not measured.
    rows = [cells("tutorial, as given" if given else "tutorial", theirs), cells(label, mine)]
    if reached:
        times = [ratio(theirs.train_s, mine.train_s), ratio(theirs.wall_s, mine.wall_s)]
        rows.append(["tutorial's time to ours", "", "", *times])
    header = ["", "validation bits per character", "epochs", "training steps alone, s", "whole process until then, s"]
    said = [] if reached else [f"Ours did not reach {theirs.bits:.3f}; its row is its best score and its whole time."]
    return [table(header, rows), *said]


def parse(arguments):
    """Parses and checks the options."""
    parser = make_parser(__doc__, NAME)
    add_peer_options(parser)
    parser.add_argument(
        "--epochs", type=at_least(1), default=14, metavar="N", help="epochs of the tutorial (default: 14)"
    )
    parser.add_argument(
        "--target", type=float, metavar="BITS", help="best score of the tutorial, to use instead of running it"
    )
    parser.add_argument(
        "--target-seconds", type=float, metavar="S", help="training seconds of the tutorial until that score"
    )
    parser.add_argument("--preset", choices=PRESETS, default="tutorial", help="our preset (default: tutorial)")
    precisions = ("auto", "float32", "bfloat16", "float16")
    parser.add_argument("--precision", choices=precisions, default="auto", help="our precision (default: auto)")
    options = parser.parse_args(arguments)
    if options.target is None and options.peers is None:
        parser.error("give --peers, a folder with the tutorial's script, or --target")
    if options.target is None and options.target_seconds is not None:
        parser.error("--target-seconds needs --target")
    return options


def main(arguments=None):
    options = parse(arguments)
    corpus = Corpus(options.corpus)
    runs_tutorial = options.target is None
    with tempfile.TemporaryDirectory() as folder:
        try:
            theirs = run_tutorial(options, corpus, folder) if runs_tutorial else None
        except Failed as error:
            raise Failed(f"the tutorial: {without_folders(str(error))}") from error
        theirs = theirs or Reached(options.target, train_s=options.target_seconds)
        mine, reached = run_ours(options, corpus, folder, theirs.bits)
    where = provenance(NAME, arguments, runs_tutorial and options.peers_python)
    label = f"{ours.NAME} (preset {options.preset}, precision {options.precision})"
    paragraphs = [where, corpus.describe(beside_peers=True), *report(theirs, mine, reached, label)]
    publish(options.results, NAME, "Time to the tutorial's quality", paragraphs)


if __name__ == "__main__":
    start(main)
