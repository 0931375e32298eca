"""How does training scale over processes, and what is predicted for many accelerators?

    python -m benchmarks.scaling [--processes 1 2 4] [--rows 64] [--rounds 3]

Measured: the same batch is sharded over 1, 2 and 4 processes, each on one core, with an all-reduce over the loopback
network. The expected time of a step is computed before it is measured: the time of a single process with its shard
only, plus the time of an all-reduce of the size of the gradients. If there are more processes than cores, they share
the cores.

Predicted with the same two terms (`cluster.py`), not measured: the paper's base and big sizes on many accelerators.
"""

import json
import os
import socket
import statistics
import subprocess
import sys

from benchmarks.cluster import Cluster, sent_bytes, step_seconds
from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.flops import training_flops
from benchmarks.programs import Failed
from benchmarks.results import median_and_range, publish, table
from keras_transformer import PRESETS, preset
from keras_transformer.presets import count_parameters

NAME = "scaling"
ONE = (sys.executable, "-m", "benchmarks.jax_steps")
COUNTS = (1, 8, 16, 64, 256, 1024)
# An H100 or H200 SXM by its data sheet: 989 TFLOP/s in bfloat16, 450 GB/s of NVLink each way; and for each of the eight
# of a machine a network card of 400 Gb/s. The latencies are the usual orders of magnitude.
ACCELERATORS = Cluster(989e12, 0.45, 8, 450e9, 50e9, 2e-6, 10e-6)
TOKENS = 25_000  # Question tokens in a batch, and as many answer tokens (section 5.1).
LENGTH = 32  # Tokens per text.
HEADER = [
    "accelerators",
    "tokens a step",
    "arithmetic, ms",
    "exchange, ms",
    "step, ms",
    "tokens/s, million",
    "efficiency, %",
]
ASSUMED = """
Assumed: accelerators of 989 TFLOP/s in bfloat16, of which a step uses 45 %, however few its rows are; 8 in a machine,
which send 450 GB/s each to each other and 50 GB/s each to other machines, after 2 and 10 µs; gradients of 4 bytes. The
first figure of each pair is of an exchange that hides behind the backward pass where it can, the second of one that
does not at all. A token is one of a question together with one of an answer, and texts are of 32. Efficiency is the
tokens a second of each accelerator, relative to one alone. Input, padding, the optimizer and stragglers are left out.
""".strip().replace("\n", " ")


def run_together(count, options, rows):
    """Runs `jax_steps.py` in `count` processes with `rows` rows each, and returns what it measured."""
    cores = sorted(os.sched_getaffinity(0))
    command = [*ONE, "--preset", options.preset, "--rows", str(rows), "--length", str(LENGTH)]
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    processes = [
        subprocess.Popen(
            ["taskset", "--cpu-list", str(cores[number % len(cores)]), *command, *meeting],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number, meeting in enumerate(meetings(count))
    ]  # fmt: skip
    try:
        said = [process.communicate() for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (_, errors) in zip(processes, said):
        if process.returncode:
            raise Failed(f"{count} processes: {errors.strip().splitlines()[-1]}")
    return json.loads(said[0][0].splitlines()[-1])


def meetings(count):
    """Returns the options of each process to connect with the others; a single process has none."""
    if count == 1:
        return [[]]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        where = ["--coordinator", f"127.0.0.1:{free.getsockname()[1]}", "--processes", str(count)]
    return [[*where, "--process", str(number)] for number in range(count)]


def measure(count, options):
    """Returns the measured seconds of a step, the expected seconds, and the bytes sent."""
    rows = options.rows // count
    alone = run_together(1, options, rows)
    found = run_together(count, options, rows) if count > 1 else alone
    crowd = count / min(count, len(os.sched_getaffinity(0)))
    return {**found, "expected": alone["step"] * crowd + found["exchange"]}


def measured_rows(found, cores):
    """Returns the table rows of the measurements.

    Args:
        found: Dictionary from each number of processes to the results of `measure`, one per round.
        cores: Number of cores of this machine.
    """
    first = statistics.median(one["step"] for one in found[1])
    rows = []
    for count, rounds in found.items():
        size = rounds[0]["size"]
        errors = [100 * (one["expected"] / one["step"] - 1) for one in rounds]
        sent = statistics.median(one["sent"] for one in rounds)
        step = statistics.median(one["step"] for one in rounds)
        used = min(count, cores)
        rows.append([
            str(count), str(used), median_and_range(1e3 * one["step"] for one in rounds),
            median_and_range(1e3 * one["exchange"] for one in rounds), f"{sent / 1e6:,.1f}",
            f"{count * sent_bytes(size, count) / 1e6:,.1f}", f"{first / step:.2f}", f"{100 * first / step / used:.0f}",
            median_and_range(errors) if count > 1 else "",
        ])  # fmt: skip
    return rows


def predicted_rows(config, tokens_each=None):
    """Returns the table rows of the predictions.

    Args:
        config: The `Config`, which gives the sizes of the model.
        tokens_each: Tokens per accelerator, so that the batch grows with their number (weak scaling); None to shard the
            paper's batch (strong scaling).
    """
    flops, size = training_flops(config, LENGTH, LENGTH) / LENGTH, 4 * count_parameters(config)
    rows = []
    for count in COUNTS:
        tokens = count * tokens_each if tokens_each else TOKENS
        compute, exchange = (
            ACCELERATORS.compute_seconds(flops * tokens, count), ACCELERATORS.exchange_seconds(size, count)
        )  # fmt: skip
        steps = step_seconds(compute, exchange)
        rows.append([
            f"{count:,}", f"{tokens:,}", f"{1e3 * compute:,.2f}", f"{1e3 * exchange:,.2f}",
            " – ".join(f"{1e3 * step:,.2f}" for step in steps),
            " – ".join(f"{tokens / step / 1e6:,.1f}" for step in steps),
            " – ".join(f"{100 * compute / step:.0f}" for step in steps),
        ])  # fmt: skip
    return rows


def predictions():
    """Yields the paragraphs of the predictions."""
    for name in ("base", "big"):
        config = preset(name)
        what = f"{name}, {count_parameters(config) / 1e6:.0f} million parameters"
        yield f"**{what}; the paper's batch, shared out:**"
        yield table(HEADER, predicted_rows(config))
        yield f"**{what}; {TOKENS:,} tokens for each accelerator:**"
        yield table(HEADER, predicted_rows(config, TOKENS))


def parser():
    """Returns the command-line parser."""
    grammar = make_parser(__doc__, NAME)
    whole = at_least(1)
    grammar.add_argument("--preset", choices=PRESETS, default="small", help="sizes of the model (default: small)")
    grammar.add_argument("--processes", type=whole, nargs="+", default=[1, 2, 4], metavar="N", help="default: 1 2 4")
    grammar.add_argument("--rows", type=whole, default=64, metavar="N", help="pairs per batch (default: 64)")
    grammar.add_argument("--rounds", type=whole, default=3, metavar="N", help="default: 3")
    return grammar


def main(arguments=None):
    options = parser().parse_args(arguments)
    counts = sorted({1, *options.processes})
    if any(options.rows % count for count in counts):
        raise Failed(
            f"{options.rows} pairs cannot be shared out evenly over {counts[-1]} processes: choose other --rows"
        )
    found = {count: [] for count in counts}
    for number in range(options.rounds):
        for count in counts:
            say(f"round {number + 1}, {count} at once …")
            found[count].append(measure(count, options))
    cores = len(os.sched_getaffinity(0))
    header = [
        "processes", "cores", "step, ms", "exchange alone, ms", "MB sent a step", "MB by the equation", "speed-up",
        "efficiency, %", "model's error, %",
    ]  # fmt: skip
    how = (
        f"A training step (forward, backward, Adam) of the preset {options.preset} on JAX in float32, {options.rows} "
        f"pairs of {LENGTH} + {LENGTH} tokens in all, whatever the number of processes; median (lowest–highest) of "
        f"{options.rounds} rounds. Efficiency is the speed-up over the cores in use. The model's error is that of the "
        "step's time as told from a lone process with as many rows, and from the exchange alone."
    )
    body = [provenance(NAME, arguments), how, table(header, measured_rows(found, cores)), ASSUMED, *predictions()]
    publish(options.results, NAME, "Scaling over processes, measured, and over accelerators, predicted", body)


if __name__ == "__main__":
    start(main)
