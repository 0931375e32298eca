"""Training steps of given sizes on random tokens without padding, for benchmarks that measure in their own process."""

import contextlib
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from keras_transformer import loss_function, transformer

FIRST_ID = 4  # Lower ids are special tokens, such as padding.
POLICIES = {"float32": "float32", "bfloat16": "mixed_bfloat16"}


@contextlib.contextmanager
def computing_in(precision):
    """Returns a context in which new layers compute in the given precision."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(POLICIES[precision])
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def sized_model(config, precision):
    """Returns a model with the sizes of a `Config` and new weights that computes in "float32" or "bfloat16"."""
    with computing_in(precision):
        return transformer(
            config.vocab_size, config.num_layers, config.dff, config.d_model, config.num_heads, config.dropout
        )


def random_batch(vocab_size, batch, length):
    """Returns random questions, decoder inputs and targets without padding, each int32 (batch, length)."""
    random = np.random.default_rng(0)
    return tuple(random.integers(FIRST_ID, vocab_size, (batch, length), dtype="int32") for _ in range(3))


def gradient_step(model):
    """Returns a compiled function of a batch that runs a forward and a backward pass and waits for their end."""
    anything = tf.TensorSpec((None, None), tf.int32)

    @tf.function(input_signature=[anything] * 3, autograph=False)
    def step(inputs, dec_inputs, targets):
        with tf.GradientTape() as tape:
            loss = loss_function(targets, model([inputs, dec_inputs], training=True))
        # Unused gradients would not be computed.
        return tape.gradient(loss, model.trainable_variables)

    return lambda *batch: step(*batch)[-1].numpy()
