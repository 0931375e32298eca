"""How fast is decoding, compared with the peers?

    python -m benchmarks.decoding [--peers FOLDER] [--rounds N]

The weights are random. Each question has 10 tokens, and each answer exactly 20 new tokens. Measured is the median of 20
calls after 3 warm-up calls, for batches of 1 and 32 questions, with greedy decoding and with 4 beams, at the sizes of
the presets "tutorial" and "base", all with a vocabulary of 8,192. The programs run in turn, each in a separate process,
because machines are shared and their speed drifts. Compare the ratios within a round. CTranslate2 uses the fastest
number of threads.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks import ours
from benchmarks.command import add_peer_folder, at_least, make_parser, provenance, say, start
from benchmarks.corpus import SMALL_TALK
from benchmarks.peers import decoding_commands
from benchmarks.programs import run_program
from benchmarks.results import median_and_range, publish, table
from benchmarks.roofline import least_ms, read_bandwidth, step_weights
from keras_transformer import preset

NAME = "decoding"
TOKENS, SOURCE, VOCABULARY, WARM_UP, CALLS = 20, 10, 8192, 3, 20
SIZES = ("tutorial", "base")
MEASURE_ONE = (sys.executable, "-m", "benchmarks.decoding")


def measure_sizes(sizes):
    """Times our decoding in this process.

    Args:
        sizes: The preset that gives the sizes of the model.

    Yields:
        Dictionaries of "batch", "beams" (1 for greedy decoding) and "ms", the median time of a call.
    """
    import keras
    import numpy as np

    from keras_transformer import Beam, Greedy, generate, transformer

    config = preset(sizes)
    keras.utils.set_random_seed(0)
    model = transformer(
        VOCABULARY, config.num_layers, config.dff, config.d_model, config.num_heads, config.dropout
    )  # fmt: skip
    for batch, beams in ((1, 1), (32, 1), (1, 4), (32, 4)):
        questions = np.random.default_rng(1).integers(4, VOCABULARY, (batch, SOURCE))
        strategy = Greedy() if beams == 1 else Beam(beams)
        times = []
        for _ in range(WARM_UP + CALLS):
            begin = time.perf_counter()
            made = generate(
                model, questions, start_id=2, end_id=3, max_length=TOKENS, min_length=TOKENS, strategy=strategy
            )
            times.append(1e3 * (time.perf_counter() - begin))
        assert (made.lengths == TOKENS).all()
        yield {"batch": batch, "beams": beams, "ms": statistics.median(times[WARM_UP:])}


def figures(output):
    """Returns the JSON objects in the output of a program."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def run_round(options):
    """Runs every program once.

    Returns:
        A dictionary from (program, sizes, batch, beams) to milliseconds.
    """
    took = {}

    def note(program, sizes, command):
        say(f"  {program}, {sizes} …")
        for found in figures(run_program(command).check().output):
            key = (program, sizes, found["batch"], found.get("beams", 1))
            took[key] = min(found["ms"], took.get(key, found["ms"]))  # The fastest number of threads.

    for sizes in SIZES:
        note(ours.NAME, sizes, [*MEASURE_ONE, "--only", sizes])
        if options.peers:
            for program, command in decoding_commands(options.peers_python, options.peers, sizes):
                note(program, sizes, command)
    return took


def speed_table(rounds):
    """Returns a table with a row per workload: our milliseconds, the peers', and the ratios within the rounds."""
    programs = list(dict.fromkeys(program for took in rounds for program, *_ in took))
    peers = [program for program in programs if program != ours.NAME]
    works = list(dict.fromkeys(tuple(work) for took in rounds for _, *work in took))
    rows = []
    for work in works:
        mine = [took[(ours.NAME, *work)] for took in rounds]
        cells = [describe(*work), median_and_range(mine, 1)]
        for peer in peers:
            theirs = [took.get((peer, *work)) for took in rounds]
            if None in theirs:
                cells += ["–", "–"]
                continue
            cells += [median_and_range(theirs, 1), median_and_range([a / b for a, b in zip(mine, theirs)], 3)]
        rows.append(cells)
    header = ["", f"{ours.NAME}, ms"]
    for peer in peers:
        header += [f"{peer}, ms", "ours to it"]
    return table(header, rows)


def describe(sizes, batch, beams):
    """Describes a workload in words."""
    return f"{sizes}, batch {batch}, {'greedy' if beams == 1 else f'{beams} beams'}"


def beam_table(rounds):
    """Returns a table of the time of beam search relative to greedy decoding."""
    rows = []
    for sizes in SIZES:
        for batch in (1, 32):
            greedy, beam = ([took[ours.NAME, sizes, batch, beams] for took in rounds] for beams in (1, 4))
            rows.append([f"{sizes}, batch {batch}", median_and_range([b / a for a, b in zip(greedy, beam)], 2)])
    return table(["", "4 beams to greedy"], rows)


def limit_table(rounds):
    """Returns a table of our greedy decoding and its lower bound on this machine."""
    from benchmarks.utilisation import matmul_peak

    peak = matmul_peak("float32")
    rows = []
    for sizes in SIZES:
        config = preset(sizes)
        size = 4 * step_weights(config, VOCABULARY)
        bandwidth = read_bandwidth(size)
        for batch in (1, 32):
            least = least_ms(config, VOCABULARY, batch, SOURCE, TOKENS, bandwidth, peak)
            mine = statistics.median(took[ours.NAME, sizes, batch, 1] for took in rounds)
            rows.append([
                describe(sizes, batch, 1), f"{size / 1e6:.0f}", f"{bandwidth / 1e9:.0f}", f"{peak / 1e9:.0f}",
                f"{least:.1f}", f"{mine:.1f}", f"{100 * least / mine:.0f}",
            ])  # fmt: skip
    header = ["", "MB of weights a step", "GB/s", "GFLOP/s", "least, ms", "ours, ms", "share reached, %"]
    return table(header, rows)


def first_answers(rounds):
    """Returns the seconds that `chat` takes to start, answer one question and exit, once per round."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        run_program(ours.train_command(SMALL_TALK, run, "tutorial", "auto", "--epochs", "1")).check()
        times = []
        for _ in range(rounds):
            begin = time.perf_counter()
            subprocess.run([*ours.PROGRAM, "chat", run], input="안녕\n".encode(), stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - begin)
    return times


def parser():
    """Returns the command-line parser."""
    grammar = make_parser(__doc__, NAME)
    add_peer_folder(grammar)
    grammar.add_argument("--rounds", type=at_least(1), default=3, metavar="N", help="rounds (default: 3)")
    grammar.add_argument("--only", choices=SIZES, help="measure and print only our figures of these sizes")
    return grammar


def main(arguments=None):
    options = parser().parse_args(arguments)
    if options.only:
        for found in measure_sizes(options.only):
            print(json.dumps(found), flush=True)
        return
    rounds = []
    for number in range(1, options.rounds + 1):
        say(f"round {number} of {options.rounds}")
        rounds.append(run_round(options))
    how = (
        f"Milliseconds until {TOKENS} tokens are made for each question of {SOURCE}; median (lowest–highest) of "
        f"{options.rounds} rounds. Ratios are taken within each round; below 1 ours is faster."
    )
    where = provenance(NAME, arguments, options.peers and options.peers_python)
    limit = (
        "The least time: every stage reads its weights at the bandwidth measured for as many bytes, or computes its "
        "products at the peak measured for large ones, whichever takes longer, and nothing else takes any."
    )
    say("the first answer …")
    seconds = median_and_range(first_answers(options.rounds), 1)
    first = (
        f"From the start of `chat` to the end of it, with one question answered, at the tutorial's sizes: {seconds} s."
    )
    tables = [speed_table(rounds), beam_table(rounds), first, limit, limit_table(rounds)]
    publish(options.results, NAME, "Speed of answers", [where, how, *tables])


if __name__ == "__main__":
    start(main)
