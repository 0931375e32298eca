"""How fast is training, and how much memory does it take, compared with the peers?

    python -m benchmarks.training [--peers FOLDER] [--corpus FILE]

Every program trains a model with the sizes of the preset "tutorial" for some epochs in a separate process. The first
epoch, which traces and compiles, is excluded. The programs run in turn, A B C A B C …, because machines are shared and
their speed drifts. Compare the ratios within a round.
"""

import dataclasses
import pathlib
import tempfile
from collections.abc import Callable

from benchmarks import ours, peers
from benchmarks.command import add_peer_options, at_least, make_parser, provenance, say, start
from benchmarks.corpus import Corpus
from benchmarks.programs import Failed, run_program
from benchmarks.results import median_and_range, publish, table, without_folders

NAME = "training"


@dataclasses.dataclass(frozen=True)
class Program:
    """A program of the benchmark.

    Attributes:
        name: The name in tables.
        precision: "float32" or "bfloat16"; only programs of the same precision are compared.
        command: Function from a new, empty folder to the command line.
        speed: Function from the `Outcome` and this folder to pairs per second.
    """

    name: str
    precision: str
    command: Callable
    speed: Callable

    def __str__(self):
        return f"{self.name} {self.precision}"


@dataclasses.dataclass(frozen=True)
class Sample:
    """The measurements of a program in one round."""

    pairs_per_s: float
    peak_mb: float
    seconds: float


def our_program(precision, corpus, epochs):
    """Returns the `Program` of our training with a precision."""
    more = ["--epochs", str(epochs), "--patience", "0"]
    return Program(
        ours.NAME,
        precision,
        lambda folder: ours.train_command(corpus, folder / "run", "tutorial", precision, *more),
        lambda outcome, folder: ours.speed(folder / "run"),
    )


def peer_program(python, scripts, peer, corpus, epochs):
    """Returns the `Program` of a peer's training."""
    return Program(
        peer.name,
        peer.precision,
        lambda folder: peers.peer_command(python, scripts, peer, corpus, epochs),
        lambda outcome, folder: peers.speed(outcome.output),
    )


def measure(program):
    """Runs a program once and returns its `Sample`; raises `Failed` if it cannot be measured."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        outcome = run_program(program.command(folder)).check()
        return Sample(program.speed(outcome, folder), outcome.peak_mb, outcome.seconds)


def run_rounds(programs, rounds):
    """Runs the programs in turn.

    Args:
        programs: The `Program`s.
        rounds: Number of times to run each program.

    Returns:
        A dictionary from each program that ran in all rounds to its `Sample`s, and the reason why each of the others is
        left out.

    Raises:
        Failed: If one of ours cannot run.
    """
    samples, left_out = {program: [] for program in programs}, {}
    for number in range(1, rounds + 1):
        for program in [program for program in programs if program not in left_out]:
            say(f"round {number} of {rounds}: {program} …")
            try:
                sample = measure(program)
            except Failed as error:
                if program.name == ours.NAME:
                    raise Failed(f"{program}: {error}") from error
                left_out[program] = without_folders(str(error))
                del samples[program]
                say(f"  left out: {error}")
                continue
            samples[program].append(sample)
            say(f"  {sample.pairs_per_s:,.0f} pairs/s, {sample.peak_mb:,.0f} MB, {sample.seconds:,.0f} s in all")
    return samples, left_out


def round_ratios(ours_per_round, theirs_per_round):
    """Returns the ratio of our speed to a peer's in each round."""
    return [mine / other for mine, other in zip(ours_per_round, theirs_per_round, strict=True)]


def speed_table(samples):
    """Returns a table with a row per program: speed, peak memory and wall time."""
    rows = [
        [
            program.name,
            program.precision,
            median_and_range(sample.pairs_per_s for sample in taken),
            median_and_range(sample.peak_mb for sample in taken),
            median_and_range(sample.seconds for sample in taken),
        ]
        for program, taken in samples.items()
    ]
    return table(["program", "precision", "pairs/s", "peak memory, MB", "whole process, s"], rows)


def ratio_table(samples):
    """Returns a table of our speed relative to each peer of the same precision; None without peers."""
    speeds = {program: [sample.pairs_per_s for sample in taken] for program, taken in samples.items()}
    mine = {program.precision: taken for program, taken in speeds.items() if program.name == ours.NAME}
    rows = [
        [program.name, program.precision, median_and_range(round_ratios(mine[program.precision], taken), 2)]
        for program, taken in speeds.items()
        if program.name != ours.NAME
    ]
    return table(["ours to", "precision", "ratio of pairs/s"], rows) if rows else None


def report(samples, left_out, rounds, epochs):
    """Returns the paragraphs of the results, without provenance."""
    how = (
        f"Pairs per second after the first of {epochs} epochs; each program was run {rounds} times, in turn with the "
        "others: median (lowest–highest). Ratios are taken within each round."
    )
    missing = [f"Left out: {program}: {reason}." for program, reason in left_out.items()]
    return [text for text in (how, speed_table(samples), ratio_table(samples), *missing) if text]


def make_programs(options, corpus, folder):
    """Returns our program in both precisions, each followed by the peers of the same precision."""
    beside = peers.peers_for(corpus.train_pairs) if options.peers else []
    theirs = corpus.for_peers(folder) if beside else None
    programs = []
    for precision in ("float32", "bfloat16"):
        programs.append(our_program(precision, corpus.path, options.epochs))
        programs += [
            peer_program(options.peers_python, options.peers, peer, theirs, options.epochs)
            for peer in beside
            if peer.precision == precision
        ]
    return programs


def parser(name=NAME, about=__doc__):
    """Returns the command-line parser."""
    grammar = make_parser(about, name)
    add_peer_options(grammar)
    grammar.add_argument("--rounds", type=at_least(1), default=2, metavar="N", help="rounds (default: 2)")
    grammar.add_argument("--epochs", type=at_least(2), default=2, metavar="N", help="epochs per run (default: 2)")
    return grammar


def main(arguments=None):
    options = parser().parse_args(arguments)
    corpus = Corpus(options.corpus)
    with tempfile.TemporaryDirectory() as folder:
        samples, left_out = run_rounds(make_programs(options, corpus, folder), options.rounds)
    where = provenance(NAME, arguments, options.peers and options.peers_python)
    about = corpus.describe(beside_peers=options.peers is not None)
    paragraphs = report(samples, left_out, options.rounds, options.epochs)
    publish(options.results, NAME, "Training speed", [where, about, *paragraphs])


if __name__ == "__main__":
    start(main)
