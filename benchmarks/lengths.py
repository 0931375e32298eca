"""How do time and memory of a training step grow with the length of the texts?

    python -m benchmarks.lengths [--lengths 32 64 …] [--tokens 2048] [--precision float32]

Sizes of the preset "tutorial", forward and backward pass, question and answer of the same length, no padding, and
always the same number of tokens in a batch: longer texts, fewer of them. Each length runs in a process of its own. A
"token" is one of the question together with one of the answer.

What the equations say: 6 × multiply-adds per token (`flops.py`). With N layers, d = d_model, f = dff, V = vocab_size
and L the length, these are N (12 d² + 4 d f) + d V for the matrices, which do not know the length, and 6 N d L for the
three attentions of an encoder and a decoder layer, 2 d L each: they double when the length doubles. For the preset,
4,718,592 + 3,072 L. Memory likewise: activations per token are constant but for 3 N num_heads L attention weights.
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
    """Floating-point operations of a training step per token, by the equations."""
    return training_flops(config, length, length) / length


def measure_length(config, length, tokens, steps, precision):
    """Times forward and backward passes in this process.

    Args:
        config: A `Config`; its sizes are read.
        length: Of questions and answers.
        tokens: In a batch, of each.
        steps: Passes to time.
        precision: "float32" or "bfloat16".

    Returns:
        A dictionary: "batch", the median "seconds" of a pass, "before_mb", the memory held before.
    """
    from benchmarks.steps import gradient_step, random_batch, sized_model

    batch = max(1, tokens // length)
    model = sized_model(config, precision)
    step = gradient_step(model)
    step(*random_batch(config.vocab_size, 2, 8))  # Traced once, for all shapes; what that takes is not counted.
    before = resident_mb()
    arrays = random_batch(config.vocab_size, batch, length)
    times = []
    for _ in range(1 + steps):
        begin = time.perf_counter()
        step(*arrays)
        times.append(time.perf_counter() - begin)
    return {"batch": batch, "seconds": statistics.median(times[1:]), "before_mb": before}


def measure_apart(length, options):
    """`measure_length` in a process of its own, with the peak of its memory besides, as "peak_mb"."""
    words = ["--only", length, "--tokens", options.tokens, "--steps", options.steps, "--precision", options.precision]
    outcome = run_program([*MEASURE_ONE, *words]).check()
    return {**json.loads(outcome.output.splitlines()[-1]), "peak_mb": outcome.peak_mb}


def report(config, lengths, measured):
    """The table, each of its three quantities per token beside its ratio to that of the first length.

    Args:
        config: The `Config` of the model.
        lengths: The lengths.
        measured: What `measure_apart` found of each.
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
    """The command line's grammar."""
    grammar = make_parser(__doc__, NAME)
    whole = at_least(1)
    grammar.add_argument("--lengths", type=whole, nargs="+", default=LENGTHS, metavar="N", help="default: 32 … 1024")
    grammar.add_argument("--tokens", type=whole, default=2048, metavar="N", help="in a batch (default: 2048)")
    grammar.add_argument("--steps", type=whole, default=5, metavar="N", help="to time (default: 5)")
    grammar.add_argument("--precision", choices=("float32", "bfloat16"), default="float32", help="default: float32")
    grammar.add_argument("--only", type=whole, metavar="N", help="print the figures of one length, measured in here")
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
