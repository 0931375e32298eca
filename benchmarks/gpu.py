"""What share of a GPU does training at the paper's base sizes use, what limits it, and how fast is PyTorch beside it?

    python -m benchmarks.gpu [--rows 400] [--length 64] [--precision bfloat16] [--torch-python PYTHON] [--rounds 3]

Ours on JAX (`jax_steps.py`) and PyTorch's `nn.Transformer` under `torch.compile` (`torch_steps.py`) train the same
sizes on as many random tokens, in turn. A step's operations are counted from the equations (`flops.py`) and set against
the chip's data sheet, where it is known, and against a large matrix product. What limits a step is told by leaving out
one thing at a time. Runs on a processor too, to be tried.
"""

import json
import os
import statistics
import sys

from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.flops import training_flops
from benchmarks.programs import Failed, run_program
from benchmarks.results import median_and_range, publish, table
from keras_transformer import PRESETS, preset

NAME = "gpu"
OURS, PYTORCH = "keras_transformer (JAX)", "PyTorch nn.Transformer, torch.compile"
DATA_SHEETS = {"H100": 989e12, "H200": 989e12, "A100": 312e12, "L40S": 362e12, "L4": 121e12}
"""Operations a second in bfloat16, without sparsity, of chips whose name holds the word."""
SMALL_VOCABULARY = 1_000
WITHOUT = {"dropout": ("--dropout", 0.0), "nearly all logits and embeddings": ("--vocab-size", SMALL_VOCABULARY)}
"""What is left out of a step to see what it takes, and how."""


def measure(module, options, python=sys.executable, *more):
    """What one of the two programs prints of its steps."""
    words = ["--preset", options.preset, "--rows", options.rows, "--length", options.length]
    words += ["--precision", options.precision, *more]
    command = ["env", "KERAS_BACKEND=jax", python, "-m", f"benchmarks.{module}", *words]
    return json.loads(run_program(command).check().output.splitlines()[-1])


def peak_of(device):
    """Operations a second of a device by its data sheet; None if it is not known."""
    words = device.replace("-", " ").split()
    return next((flops for name, flops in DATA_SHEETS.items() if name in words), None)


def row(name, options, rounds, product, peak):
    """The cells of a program.

    Args:
        name: The program's.
        options: The command line's.
        rounds: What it printed, in each round.
        product: Operations a second of a large matrix product.
        peak: Those of the data sheet, or None.
    """
    tokens = options.rows * options.length
    flops = options.rows * training_flops(preset(options.preset), options.length, options.length)
    steps = [one["step"] for one in rounds]
    memory = rounds[0]["memory"]
    return [
        name,
        median_and_range((1e3 * step for step in steps), 1),
        median_and_range(tokens / step for step in steps),
        median_and_range((flops / step / 1e12 for step in steps), 1),
        median_and_range((100 * flops / step / peak for step in steps), 1) if peak else "n/a",
        median_and_range((100 * flops / step / product for step in steps), 1),
        f"{memory / 1e9:.2f}" if memory else "n/a",
    ]


def components_of(options, whole):
    """What the parts of a step take that can be left out: rows of a table."""
    rows = []
    for name, more in WITHOUT.items():
        say(f"{OURS} without {name} …")
        step = measure("jax_steps", options, sys.executable, *more)["step"]
        rows.append([name, f"{1e3 * step:,.1f}", f"{100 * (whole - step) / whole:.0f}"])
    return rows


def in_turn(options):
    """What both programs print, in each round."""
    found = {OURS: []}
    if options.torch_python:
        found[PYTORCH] = []
    for number in range(options.rounds):
        for name, rounds in found.items():
            say(f"round {number + 1}, {name} …")
            module, python = ("jax_steps", sys.executable) if name == OURS else ("torch_steps", options.torch_python)
            rounds.append(measure(module, options, python))
    return found


def parser():
    """The command line's grammar."""
    grammar = make_parser(__doc__, NAME)
    whole = at_least(1)
    grammar.add_argument("--preset", choices=PRESETS, default="base", help="whose sizes are trained (default: base)")
    grammar.add_argument("--rows", type=whole, default=400, metavar="N", help="pairs in a batch (default: 400)")
    grammar.add_argument("--length", type=whole, default=64, metavar="N", help="tokens of each text (default: 64)")
    grammar.add_argument("--precision", choices=("float32", "bfloat16"), default="bfloat16", help="default: bfloat16")
    grammar.add_argument("--torch-python", metavar="PYTHON", help="an interpreter with PyTorch, to be measured beside")
    grammar.add_argument("--rounds", type=whole, default=3, metavar="N", help="default: 3")
    return grammar


def main(arguments=None):
    options = parser().parse_args(arguments)
    if options.torch_python and not os.access(options.torch_python, os.X_OK):
        raise Failed(f"{options.torch_python}: not a program")
    found = in_turn(options)
    first = found[OURS][0]
    product, peak = max(one["product"] for one in found[OURS]), peak_of(first["device"])
    whole = statistics.median(one["step"] for one in found[OURS])
    how = (
        f"Steps of the preset {options.preset} in {options.precision} on {first['device']}: {options.rows} pairs of "
        f"{options.length} + {options.length} tokens without padding; a token is one of a question and one of "
        f"an answer. Median (lowest–highest) of {options.rounds} rounds, in turn. Memory is the most that the device "
        f"held. The large product makes {product / 1e12:,.1f} TFLOP/s"
        + (f"; the data sheet says {peak / 1e12:,.0f}." if peak else "; the chip's data sheet is not known.")
    )
    header = ["", "step, ms", "tokens/s", "TFLOP/s", "% of the data sheet", "% of a large product", "memory, GB"]
    body = [table(header, [row(name, options, rounds, product, peak) for name, rounds in found.items()])]
    if PYTORCH in found:
        ratios = [theirs["step"] / ours["step"] for ours, theirs in zip(found[OURS], found[PYTORCH])]
        body.append(f"Tokens a second, ours to PyTorch's, within each round: {median_and_range(ratios, 2)}.")
    body.append(table(["ours without", "step, ms", "% of the step that it takes"], components_of(options, whole)))
    publish(options.results, NAME, "Training on a GPU", [provenance(NAME, arguments), how, *body])


if __name__ == "__main__":
    start(main)
