"""Times our training steps on JAX, on random tokens without padding, for `gpu.py` and `scaling.py`.

    KERAS_BACKEND=jax python -m benchmarks.jax_steps --rows 32 [--coordinator HOST:PORT --processes N --process I]

A step is forward pass, backward pass, Adam and the moving average of the weights, run by `model.fit`. The first process
prints a line of JSON:

    step      seconds of a step
    exchange  seconds of an all-reduce of as many bytes as the gradients have
    sent      bytes that all processes of this machine send in a step, according to the operating system
    size      bytes of the gradients
    memory    peak memory of the device in bytes, or null if JAX does not report it
    product   operations per second of the product of two large matrices
    device    name of the device
"""

import json
import os
import pathlib
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import keras
import numpy as np

from benchmarks.step_options import FIRST_ID, ROUNDS, STEPS, config_of, make_parser
from keras_transformer import transformer
from keras_transformer.backend.precision import precision
from keras_transformer.training.distributed.cluster import (
    count_devices,
    distribution_scope,
    join_cluster,
    process_count,
    process_number,
    wait_for_all,
)
from keras_transformer.training.losses import TokenLoss
from keras_transformer.training.optimizer import make_optimizer

TRAFFIC = pathlib.Path("/sys/class/net/lo/statistics/tx_bytes")
EDGE = {"cpu": 1024, "gpu": 8192}  # Number of rows and columns of the matrices.


class RoundTimes(keras.callbacks.Callback):
    """Records the seconds and sent bytes of each epoch.

    Keras reads the loss at the end of an epoch, so all of its steps are done.
    """

    def __init__(self):
        super().__init__()
        self.seconds, self.sent = [], []

    def on_epoch_begin(self, epoch, logs=None):
        self.begin = time.perf_counter(), sent_so_far()

    def on_epoch_end(self, epoch, logs=None):
        began, sent = self.begin
        self.seconds.append(time.perf_counter() - began)
        self.sent.append(sent_so_far() - sent)


def sent_so_far():
    """Returns the number of bytes sent over the loopback device since the machine started."""
    return int(TRAFFIC.read_text("ascii"))


def measure_steps(config, rows, length, computing_in):
    """Trains on random tokens. Returns the seconds of a step, the bytes sent in it, and the bytes of the gradients."""
    keras.utils.set_random_seed(0)  # All processes start with the same weights.
    with distribution_scope(count_devices()), precision(computing_in):
        sizes = config.vocab_size, config.num_layers, config.dff, config.d_model, config.num_heads, config.dropout
        model = transformer(*sizes)
        model.compile(make_optimizer(config, STEPS), TokenLoss(rows * process_count() * length, config.label_smoothing))
        times = RoundTimes()
        batches = random_batches(config.vocab_size, rows, length)
        model.fit(batches, steps_per_epoch=STEPS, epochs=1 + ROUNDS, shuffle=False, verbose=0, callbacks=[times])
    size = 4 * sum(number_count(weight.shape) for weight in model.trainable_variables)
    return statistics.median(times.seconds[1:]) / STEPS, statistics.median(times.sent[1:]) / STEPS, size


def random_batches(vocab_size, rows, length):
    """Yields this process's rows of each batch, without padding."""
    random = np.random.default_rng(process_number())
    while True:
        inputs, dec_inputs, targets = random.integers(FIRST_ID, vocab_size, (3, rows, length), dtype="int32")
        yield {"inputs": inputs, "dec_inputs": dec_inputs}, targets


def number_count(shape):
    """Returns the number of elements of a tensor with this shape."""
    return int(np.prod(shape))


def exchange_seconds(size):
    """Returns the seconds of an all-reduce of one array of `size` bytes per process."""
    if process_count() == 1:
        return 0.0
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("process",))
    apart, everywhere = (
        jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes)) for axes in (["process"], [])
    )
    own = np.ones((1, size // 4), "float32")
    array = jax.make_array_from_process_local_data(apart, own)
    add_up = jax.jit(lambda parts: parts.sum(0), out_shardings=everywhere)
    times = []
    for number in range(1 + STEPS * ROUNDS):
        wait_for_all(f"sum {number}")
        begin = time.perf_counter()
        add_up(array).block_until_ready()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:])


def product_speed(dtype, device):
    """Returns the operations per second of the product of two large square matrices, the best of several tries."""
    edge = EDGE[device.platform]
    matrix = jax.device_put(np.ones((edge, edge), "float32"), device).astype(dtype)
    product = jax.jit(lambda a, b: a @ b)
    fastest = float("inf")
    for _ in range(1 + STEPS * ROUNDS):
        begin = time.perf_counter()
        product(matrix, matrix).block_until_ready()
        fastest = min(fastest, time.perf_counter() - begin)
    return 2 * edge**3 / fastest


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--coordinator")
    parser.add_argument("--processes", type=int)
    parser.add_argument("--process", type=int)
    options = parser.parse_args()
    join_cluster(options.coordinator, options.processes, options.process)
    step, sent, size = measure_steps(config_of(options), options.rows, options.length, options.precision)
    device = jax.local_devices()[0]
    found = {
        "step": step,
        "exchange": exchange_seconds(size),
        "sent": sent,
        "size": size,
        "memory": (device.memory_stats() or {}).get("peak_bytes_in_use"),
        "product": product_speed(options.precision, device),
        "device": device.device_kind,
    }
    if process_number() == 0:
        print(json.dumps(found))
    wait_for_all("the end")


if __name__ == "__main__":
    main()
