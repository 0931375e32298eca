"""The least time that greedy decoding could take on a machine: its matrices read, its products computed, nothing else.

Of every stage the slower of two counts: reading the weights once, at the measured bandwidth, or the floating-point
operations of all rows, at the measured peak. Attention over the cache, softmax and normalization count for nothing.
"""

import time

import numpy as np


def read_bandwidth(size, repeats=20):
    """Bytes per second at which so many bytes can be read again and again: those of the fastest dot product of two."""
    halves = np.ones((2, size // 8), "float32")
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        np.dot(halves[0], halves[1])
        best = min(best, time.perf_counter() - begin)
    return halves.nbytes / best


def encoder_weights(config):
    """Weights that a question passes, those that make the decoder's keys and values of it included."""
    d_model, dff = config.d_model, config.dff
    return config.num_layers * (4 * d_model**2 + 2 * d_model * dff + 2 * d_model**2)


def step_weights(config, vocab_size):
    """Weights that a token of the answer passes; its cross-attention has the keys and values already."""
    d_model, dff = config.d_model, config.dff
    return config.num_layers * (4 * d_model**2 + 2 * d_model**2 + 2 * d_model * dff) + d_model * vocab_size


def least_ms(config, vocab_size, batch, source, tokens, bandwidth, peak):
    """Milliseconds of a whole call.

    Args:
        config: The `Config`; its sizes are read.
        vocab_size: Logits for each token.
        batch: Questions.
        source: Tokens of each.
        tokens: Tokens made for each.
        bandwidth: Bytes per second.
        peak: Floating-point operations per second.
    """

    def seconds(weights, rows):
        return max(4 * weights / bandwidth, 2 * weights * rows / peak)

    encoding = seconds(encoder_weights(config), batch * source)
    return 1e3 * (encoding + tokens * seconds(step_weights(config, vocab_size), batch))
