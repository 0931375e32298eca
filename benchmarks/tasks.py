"""Can the model learn at all? It is trained to copy and to reverse sequences, and tested on unseen ones.

python -m benchmarks.tasks
"""

import time

import keras
import numpy as np

from benchmarks.command import make_parser, provenance, say, start
from benchmarks.results import publish, table
from keras_transformer import generate, loss_function, transformer

START_ID, END_ID, FIRST_ID = 2, 3, 4
SYMBOLS, LONGEST = 20, 10
TASKS = {"copy": lambda symbols: symbols, "reverse": lambda symbols: symbols[::-1]}


def make_pairs(task, count, seed):
    """Returns random sequences of 1 to 10 symbols and the outputs of the task, as padded ids."""
    random = np.random.default_rng(seed)
    sources = np.zeros((count, LONGEST + 2), "int32")
    targets = np.zeros((count, LONGEST + 2), "int32")
    for source, target in zip(sources, targets):
        symbols = random.integers(FIRST_ID, FIRST_ID + SYMBOLS, random.integers(1, LONGEST + 1))
        source[: len(symbols) + 2] = [START_ID, *symbols, END_ID]
        target[: len(symbols) + 2] = [START_ID, *TASKS[task](symbols), END_ID]
    return sources, targets


def learn(task, steps=1000, batch_size=128, seed=0):
    """Trains a tiny model on a task and answers 1,000 unseen sequences of at least four symbols autoregressively.

    Returns:
        The share of sequences that are answered exactly, and the seconds of training.
    """
    keras.utils.set_random_seed(seed)
    model = transformer(FIRST_ID + SYMBOLS, num_layers=1, dff=128, d_model=64, num_heads=4, dropout=0.0)
    # Decays to zero, so that training converges; the paper's schedule decays too little in so few steps.
    warmup = steps // 10
    rate = keras.optimizers.schedules.CosineDecay(0.0, steps - warmup, warmup_target=2e-3, warmup_steps=warmup)
    optimizer = keras.optimizers.Adam(rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    model.compile(optimizer, loss_function, jit_compile=True)  # Compiles once, because all batches have the same shape.
    sources, targets = make_pairs(task, steps * batch_size, seed)
    begin = time.perf_counter()
    inputs = {"inputs": sources, "dec_inputs": targets[:, :-1]}
    model.fit(inputs, targets[:, 1:], batch_size=batch_size, verbose=0)
    seconds = time.perf_counter() - begin

    seen = {tuple(row) for row in sources}
    sources, targets = make_pairs(task, 2000, seed + 1)
    unseen = [i for i, row in enumerate(sources) if tuple(row) not in seen and np.count_nonzero(row) >= 6][:1000]
    generation = generate(model, sources[unseen], start_id=START_ID, end_id=END_ID, max_length=LONGEST + 1)
    return float((generation.ids == targets[unseen, 1:]).all(axis=1).mean()), seconds


def main(arguments=None):
    options = make_parser(__doc__, "tasks").parse_args(arguments)
    rows = []
    for task in TASKS:
        say(f"{task} …")
        exact, seconds = learn(task)
        rows.append([task, f"{exact:.2%}", f"{seconds:.0f}"])
    header = ["task", "of 1,000 unseen sequences exact", "after training for, s"]
    where = provenance("tasks", arguments)
    publish(options.results, "tasks", "Learning to copy and to reverse", [where, table(header, rows)])


if __name__ == "__main__":
    start(main)
