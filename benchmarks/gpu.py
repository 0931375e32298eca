"""What share of a GPU does training at the paper's base sizes use, what limits it, and how fast is PyTorch?

    python -m benchmarks.gpu [--rows 400] [--length 64] [--precision bfloat16] [--torch-python PYTHON] [--rounds 3]

Our model on JAX (`jax_steps.py`) and PyTorch's `nn.Transformer` under `torch.compile` (`torch_steps.py`) train the same
sizes on the same number of random tokens, in turn. The operations of a step are counted from the equations (`flops.py`)
and compared with the peak in the chip's data sheet, if known, and with a large matrix product. An ablation, which
leaves out one component at a time, shows what limits a step. The benchmark also runs on a CPU, for trying it out.
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
    """Runs one of the two programs and returns its measurements."""
    words = ["--preset", options.preset, "--rows", options.rows, "--length", options.length]
    words += ["--precision", options.precision, *more]
    command = ["env", "KERAS_BACKEND=jax", python, "-m", f"benchmarks.{module}", *words]
    return json.loads(run_program(command).check().output.splitlines()[-1])


def peak_of(device):
    """Returns the peak operations per second of a device from its data sheet; None if the device is unknown."""
    words = device.replace("-", " ").split()
    return next((flops for name, flops in DATA_SHEETS.items() if name in words), None)


def row(name, options, rounds, product, peak):
    """Returns the table cells of a program.

    Args:
        name: The name of the program.
        options: The command-line options.
        rounds: The measurements of the program, one per round.
        product: Operations per second of a large matrix product.
        peak: Peak operations per second of the data sheet, or None.
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
    """Returns table rows with the time of each component of a step, measured by leaving it out."""
    rows = []
    for name, more in WITHOUT.items():
        say(f"{OURS} without {name} …")
        step = measure("jax_steps", options, sys.executable, *more)["step"]
        rows.append([name, f"{1e3 * step:,.1f}", f"{100 * (whole - step) / whole:.0f}"])
    return rows


def in_turn(options):
    """Runs both programs in turn and returns their measurements in each round."""
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
    """Returns the command-line parser."""
    grammar = make_parser(__doc__, NAME)
    whole = at_least(1)
    grammar.add_argument("--preset", choices=PRESETS, default="base", help="sizes of the model (default: base)")
    grammar.add_argument("--rows", type=whole, default=400, metavar="N", help="pairs per batch (default: 400)")
    grammar.add_argument("--length", type=whole, default=64, metavar="N", help="tokens per text (default: 64)")
    grammar.add_argument("--precision", choices=("float32", "bfloat16"), default="bfloat16", help="default: bfloat16")
    grammar.add_argument("--torch-python", metavar="PYTHON", help="Python interpreter with PyTorch, to compare")
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
