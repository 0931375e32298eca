"""A lower bound for the time of greedy decoding on a machine, by the roofline model.

Each stage takes at least the longer of two times: to read its weights once at the measured bandwidth, and to compute
the floating-point operations of all rows at the measured peak. Attention over the cache, softmax and normalization are
not counted.
"""

import time

import numpy as np


def read_bandwidth(size, repeats=20):
    """Returns the bytes per second of repeatedly reading `size` bytes, from the fastest of several dot products."""
    halves = np.ones((2, size // 8), "float32")
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        np.dot(halves[0], halves[1])
        best = min(best, time.perf_counter() - begin)
    return halves.nbytes / best


def encoder_weights(config):
    """Returns the number of weights applied to a question, including the decoder's key and value projections."""
    d_model, dff = config.d_model, config.dff
    return config.num_layers * (4 * d_model**2 + 2 * d_model * dff + 2 * d_model**2)


def step_weights(config, vocab_size):
    """Returns the number of weights applied to an answer token. The keys and values of cross-attention are cached."""
    d_model, dff = config.d_model, config.dff
    return config.num_layers * (4 * d_model**2 + 2 * d_model**2 + 2 * d_model * dff) + d_model * vocab_size


def least_ms(config, vocab_size, batch, source, tokens, bandwidth, peak):
    """Returns the minimum milliseconds of a whole call.

    Args:
        config: A `Config`, which gives the sizes of the model.
        vocab_size: Number of logits per token.
        batch: Number of questions.
        source: Number of tokens per question.
        tokens: Number of generated tokens per question.
        bandwidth: Bytes per second.
        peak: Floating-point operations per second.
    """

    def seconds(weights, rows):
        return max(4 * weights / bandwidth, 2 * weights * rows / peak)

    encoding = seconds(encoder_weights(config), batch * source)
    return 1e3 * (encoding + tokens * seconds(step_weights(config, vocab_size), batch))
