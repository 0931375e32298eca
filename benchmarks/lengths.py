"""How do the time and memory of a training step grow with the length of the texts?

    python -m benchmarks.lengths [--lengths 32 64 …] [--tokens 2048] [--precision float32]

The model has the sizes of the preset "tutorial". A step is forward and backward pass. Questions and answers have the
same length, without padding. The number of tokens in a batch is constant, so that longer texts mean fewer rows. Each
length runs in a separate process. A "token" is one token of the question together with one of the answer.

The equations predict 6 × multiply-adds per token (`flops.py`). With N layers, d = d_model, f = dff, V = vocab_size and
length L, the matrices take N (12 d² + 4 d f) + d V, independent of the length. The three attentions of an encoder layer
and a decoder layer take 2 d L each, 6 N d L in total, which doubles when the length doubles. For the preset, the sum is
4,718,592 + 3,072 L. The memory for activations per token is constant, except for 3 N num_heads L attention weights.
"""

import json
import statistics
import sys
import time

from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.flops import training_flops
from benchmarks.launch import resident_mb
from benchmarks.programs import run_program
from benchmarks.results import publish, table
from keras_transformer import preset

NAME = "lengths"
LENGTHS = (32, 64, 128, 256, 512, 1024)
MEASURE_ONE = (sys.executable, "-m", "benchmarks.lengths")


def flops_per_token(config, length):
    """Returns the floating-point operations of a training step per token, derived from the equations."""
    return training_flops(config, length, length) / length


def measure_length(config, length, tokens, steps, precision):
    """Times forward and backward passes in this process.

    Args:
        config: A `Config`, which gives the sizes of the model.
        length: Number of tokens of each question and of each answer.
        tokens: Number of question tokens in a batch, and of answer tokens.
        steps: Number of passes to time.
        precision: "float32" or "bfloat16".

    Returns:
        A dictionary of "batch", the number of rows; "seconds", the median time of a pass; and "before_mb", the memory
        used before the first pass.
    """
    from benchmarks.steps import gradient_step, random_batch, sized_model

    batch = max(1, tokens // length)
    model = sized_model(config, precision)
    step = gradient_step(model)
    step(*random_batch(config.vocab_size, 2, 8))  # Traces once for all shapes; the time for this is not measured.
    before = resident_mb()
    arrays = random_batch(config.vocab_size, batch, length)
    times = []
    for _ in range(1 + steps):
        begin = time.perf_counter()
        step(*arrays)
        times.append(time.perf_counter() - begin)
    return {"batch": batch, "seconds": statistics.median(times[1:]), "before_mb": before}


def measure_apart(length, options):
    """Runs `measure_length` in a separate process, and adds its peak memory as "peak_mb" to the result."""
    words = ["--only", length, "--tokens", options.tokens, "--steps", options.steps, "--precision", options.precision]
    outcome = run_program([*MEASURE_ONE, *words]).check()
    return {**json.loads(outcome.output.splitlines()[-1]), "peak_mb": outcome.peak_mb}


def report(config, lengths, measured):
    """Returns the table. Each of its three quantities per token is followed by the ratio to that of the first length.

    Args:
        config: The `Config` of the model.
        lengths: The lengths.
        measured: The result of `measure_apart` for each length.
    """
    flops = [flops_per_token(config, length) for length in lengths]
    tokens = [found["batch"] * length for found, length in zip(measured, lengths)]
    times = [found["seconds"] / count for found, count in zip(measured, tokens)]
    memory = [(found["peak_mb"] - found["before_mb"]) / count for found, count in zip(measured, tokens)]
    header = ["length", "batch", "MFLOP/token", "×", "µs/token", "×", "step's KB/token", "×", "process' peak, MB"]
    rows = [
        [
            str(length),
            str(found["batch"]),
            f"{flops[i] / 1e6:.1f}", f"{flops[i] / flops[0]:.2f}",
            f"{times[i] * 1e6:.0f}", f"{times[i] / times[0]:.2f}",
            f"{memory[i] * 1e3:.0f}", f"{memory[i] / memory[0]:.2f}",
            f"{found['peak_mb']:,.0f}",
        ]
        for i, (length, found) in enumerate(zip(lengths, measured))
    ]  # fmt: skip
    return table(header, rows)


def parser():
    """Returns the command-line parser."""
    grammar = make_parser(__doc__, NAME)
    whole = at_least(1)
    grammar.add_argument("--lengths", type=whole, nargs="+", default=LENGTHS, metavar="N", help="default: 32 … 1024")
    grammar.add_argument("--tokens", type=whole, default=2048, metavar="N", help="tokens per batch (default: 2048)")
    grammar.add_argument("--steps", type=whole, default=5, metavar="N", help="number of timed passes (default: 5)")
    grammar.add_argument("--precision", choices=("float32", "bfloat16"), default="float32", help="default: float32")
    grammar.add_argument("--only", type=whole, metavar="N", help="measure and print only one length")
    return grammar


def main(arguments=None):
    options = parser().parse_args(arguments)
    config = preset("tutorial")
    if options.only:
        print(json.dumps(measure_length(config, options.only, options.tokens, options.steps, options.precision)))
        return
    measured = []
    for length in options.lengths:
        say(f"length {length} …")
        measured.append(measure_apart(length, options))
    how = (
        f"A forward and backward pass at the sizes of the preset tutorial, {options.precision}, {options.tokens:,} "
        f"tokens of questions and as many of answers in a batch, median of {options.steps}; a token is one of each. "
        "MFLOP/token is what the equations say; × is relative to the first row. The step's memory is the peak of the "
        "process less what it held before, traced and with its weights."
    )
    where = provenance(NAME, arguments)
    publish(options.results, NAME, "Length of the texts", [where, how, report(config, options.lengths, measured)])


if __name__ == "__main__":
    start(main)
