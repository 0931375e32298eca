"""How long do the commands take from their start: to a first answer, to a report, to an error?

    python -m benchmarks.startup RUN [--before FOLDER] [--rounds N]

Every command is a new process. The figures are CPU seconds, which other programs on the machine change little, the
least of all rounds; Python alone and Python with NumPy are measured in turn with them. RUN should retrieve its answers.
"""

import itertools
import json
import pathlib
import sys
import tempfile

from benchmarks.command import at_least, folder, make_parser, provenance, say, start
from benchmarks.corpus import SMALL_TALK
from benchmarks.first_answer import QUESTION
from benchmarks.programs import run_program
from benchmarks.results import publish, table

NAME = "startup"
HERE = pathlib.Path(__file__).parents[1]
PYTHON = {"`python -c pass`": "pass", '`python -c "import numpy"`': "import numpy"}


def commands_of(run):
    """Returns the arguments of `keras-transformer` by the names of the commands in the table."""
    return {
        "`--help`": ["--help"],
        "`info --wrong` (an error)": ["info", "--wrong"],
        "`info RUN`": ["info", run],
        "`data check` of small_talk": ["data", "check", SMALL_TALK],
        "`answer RUN`, one question": ["answer", run],
        "`chat RUN`, one question": ["chat", run],
        "`answer RUN --answer-by generate`, one question": ["answer", run, "--answer-by", "generate"],
    }


def programs_of(run, checkouts):
    """Returns a dictionary from the names in the table to command lines: one for each checkout, for Python one."""
    programs = {name: [[sys.executable, "-c", code]] for name, code in PYTHON.items()}
    for name, arguments in commands_of(run).items():
        # -P: not from the current folder, which contains the package as well.
        python = [["env", f"PYTHONPATH={checkout}", sys.executable, "-P"] for checkout in checkouts]
        programs[name] = [[*words, "-m", "keras_transformer", *arguments] for words in python]
    return programs


def measure(programs, rounds):
    """Runs all programs in turn, with one question as their standard input.

    Args:
        programs: A dictionary as from `programs_of`.
        rounds: Number of rounds.

    Returns:
        A dictionary from the names to a list of `Outcome`s for each command line.
    """
    outcomes = {name: [[] for _ in lines] for name, lines in programs.items()}
    with tempfile.TemporaryDirectory() as beside:
        asked = pathlib.Path(beside) / "asked.txt"
        asked.write_text(f"{QUESTION}\n", encoding="utf-8")
        for number in range(1, rounds + 1):
            say(f"round {number} of {rounds} …")
            for name, lines in programs.items():
                for taken, words in zip(outcomes[name], lines):
                    with open(asked, "rb") as stdin:
                        taken.append(run_program(words, stdin=stdin))
    return outcomes


def row_of(name, columns):
    """Returns a row of the table: least CPU seconds and peak memory of each command line, and the ratio of two."""
    least = [min(one.cpu_seconds for one in taken) for taken in columns]
    peaks = [max(one.peak_mb for one in taken) for taken in columns]
    cells = [cell for cpu, peak in zip(least, peaks) for cell in (f"{cpu:.2f}", f"{peak:,.0f}")]
    return [name, *cells, *(f"{before / now:.1f}" for now, before in itertools.pairwise(least))]


def stages_of(run):
    """Returns pairs of a stage and its CPU seconds, from `benchmarks.first_answer` in a new process."""
    words = [sys.executable, "-m", "benchmarks.first_answer", run]
    return json.loads(run_program(words).check().output.splitlines()[-1])


def main(arguments=None):
    parser = make_parser(__doc__, NAME)
    parser.add_argument("run", type=folder, metavar="RUN", help="folder of a trained run with a datastore")
    parser.add_argument(
        "--before", type=folder, metavar="FOLDER", help="checkout of an earlier version, measured in turn"
    )
    parser.add_argument("--rounds", type=at_least(1), default=5, metavar="N", help="default: 5")
    options = parser.parse_args(arguments)
    checkouts = [HERE, *([options.before] if options.before else [])]
    outcomes = measure(programs_of(options.run, checkouts), options.rounds)
    header = ["command", "CPU, s", "peak memory, MB"]
    header += ["before: CPU, s", "before: peak memory, MB", "before / now"] if options.before else []
    rows = [row_of(*one) for one in outcomes.items()]
    publish(options.results, NAME, "From the start of a command", [
        provenance(NAME, arguments),
        f"User and system CPU seconds of the whole process, the least of all rounds ({options.rounds}).",
        table(header, [[*row, *[""] * (len(header) - len(row))] for row in rows]),
        "What the CPU time to the first answers goes to, one after the other in one process:",
        table(["stage", "CPU, s"], [[stage, f"{seconds:.3f}"] for stage, seconds in stages_of(options.run)]),
    ])  # fmt: skip


if __name__ == "__main__":
    start(main)
