"""What share of the machine's peak performance does a training step use?

    python -m benchmarks.utilisation [--precision float32 bfloat16] [--jit-compile no yes]

A step is forward pass, backward pass and Adam, at the paper's base sizes on texts without padding. Its operations are
counted from the equations (`flops.py`): 6 per multiply-add of a matrix product, and none for softmax, normalization,
dropout, masks or the optimizer. They are compared with the machine's peak: the fastest of several large matrix products
in the same precision, measured in the same process before and after the steps.
"""

import math
import time

from benchmarks.command import at_least, make_parser, provenance, say, start
from benchmarks.flops import training_flops
from benchmarks.programs import Failed
from benchmarks.results import median_and_range, publish, table
from keras_transformer import preset

NAME = "utilisation"
SHAPES = ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 512, 512), (8192, 512, 2048))
"""Rows, inner and columns of the products: square ones, and tall ones such as a model's."""


def matmul_peak(precision, shapes=SHAPES, repeats=3):
    """Returns the highest FLOP/s of several matrix products.

    Args:
        precision: Dtype of the matrices.
        shapes: The products to try, as (rows, inner, columns).
        repeats: Number of times to measure each product, after one warm-up.
    """
    from benchmarks.steps import tf

    peak = 0.0
    for rows, inner, columns in shapes:
        a, b = tf.random.normal((rows, inner)), tf.random.normal((inner, columns))
        a, b = tf.cast(a, precision), tf.cast(b, precision)
        for repeat in range(1 + repeats):
            begin = time.perf_counter()
            tf.matmul(a, b)[-1, -1].numpy()  # Reading an element waits for the product, also on a GPU.
            seconds = time.perf_counter() - begin
            if repeat:
                peak = max(peak, 2 * rows * inner * columns / seconds)
    return peak


def step_seconds(config, precision, jit_compile, batch, length, steps):
    """Returns the seconds of each training step, after a first step that traces and compiles.

    Args:
        config: A `Config`, which gives the sizes of the model.
        precision: "float32" or "bfloat16".
        jit_compile: Whether XLA compiles the step.
        batch: Pairs per batch.
        length: Tokens per question and per answer.
        steps: Number of steps to time.
    """
    from benchmarks.steps import keras, random_batch, sized_model
    from keras_transformer import CustomSchedule, loss_function

    keras.utils.set_random_seed(0)
    model = sized_model(config, precision)
    optimizer = keras.optimizers.Adam(CustomSchedule(config.d_model), beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    model.compile(optimizer, loss_function, jit_compile=jit_compile)
    inputs, dec_inputs, targets = random_batch(config.vocab_size, batch, length)
    times = []
    for _ in range(1 + steps):
        begin = time.perf_counter()
        loss = model.train_on_batch({"inputs": inputs, "dec_inputs": dec_inputs}, targets)
        times.append(time.perf_counter() - begin)  # The loss is already a Python float, so the step is done.
        if not math.isfinite(loss):
            raise Failed(f"the loss became {loss}")
    return times[1:]


def measure(config, precision, jit_compile, options):
    """Returns one row of the table."""
    peak = matmul_peak(precision)
    times = step_seconds(config, precision, jit_compile, options.batch, options.length, options.steps)
    peak = max(peak, matmul_peak(precision))
    flops = options.batch * training_flops(config, options.length, options.length)
    return row(precision, jit_compile, flops, times, peak)


def row(precision, jit_compile, flops, times, peak):
    """Returns the cells of a row.

    Args:
        precision: The precision of the step.
        jit_compile: Whether XLA compiled the step.
        flops: Floating-point operations of a step.
        times: Seconds of each step.
        peak: Peak FLOP/s of the machine.
    """
    return [
        precision,
        "yes" if jit_compile else "no",
        median_and_range(times, 2),
        median_and_range(flops / seconds / 1e9 for seconds in times),
        f"{peak / 1e9:,.0f}",
        median_and_range((100 * flops / seconds / peak for seconds in times), 1),
    ]


def parser():
    """Returns the command-line parser."""
    grammar = make_parser(__doc__, NAME)
    whole, base = at_least(1), preset("base")
    grammar.add_argument(
        "--precision", nargs="+", choices=("float32", "bfloat16"), default=["float32"], help="default: float32"
    )
    grammar.add_argument(
        "--jit-compile", nargs="+", choices=("no", "yes"), default=["no"],
        help="whether XLA compiles the step; give both to compare (default: no)",
    )  # fmt: skip
    grammar.add_argument("--vocab-size", type=whole, default=8192, metavar="N", help="default: 8192")
    grammar.add_argument("--num-layers", type=whole, default=base.num_layers, metavar="N", help="default: the base's 6")
    grammar.add_argument("--batch", type=whole, default=64, metavar="N", help="pairs per batch (default: 64)")
    grammar.add_argument("--length", type=whole, default=32, metavar="N", help="tokens per text (default: 32)")
    grammar.add_argument("--steps", type=whole, default=5, metavar="N", help="number of timed steps (default: 5)")
    return grammar


def main(arguments=None):
    options = parser().parse_args(arguments)
    config = preset("base").replace(vocab_size=options.vocab_size, num_layers=options.num_layers)
    rows = []
    for precision in options.precision:
        for jit_compile in options.jit_compile:
            say(f"{precision}, {'with' if jit_compile == 'yes' else 'without'} XLA …")
            rows.append(measure(config, precision, jit_compile == "yes", options))
    flops = options.batch * training_flops(config, options.length, options.length)
    how = (
        f"A training step of {config.num_layers} layers, d_model {config.d_model}, {config.num_heads} heads, dff "
        f"{config.dff}, vocabulary {config.vocab_size:,}, on {options.batch} pairs of {options.length} + "
        f"{options.length} tokens without padding: {flops / 1e9:,.0f} GFLOP by the equations. Median (lowest–highest) "
        f"of {options.steps} steps. The peak is the fastest matrix product in the same precision, before or after."
    )
    header = ["precision", "XLA", "s/step", "GFLOP/s", "peak, GFLOP/s", "share of the peak, %"]
    where = provenance(NAME, arguments)
    publish(options.results, NAME, "Utilisation at base sizes", [where, how, table(header, rows)])


if __name__ == "__main__":
    start(main)
