"""Training steps of given sizes on random tokens without padding, for benchmarks that measure in their own process."""

import contextlib
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from keras_transformer import loss_function, transformer

FIRST_ID = 4  # Those before it are padding and the like.
POLICIES = {"float32": "float32", "bfloat16": "mixed_bfloat16"}


@contextlib.contextmanager
def computing_in(precision):
    """Layers that are made in here compute in that precision."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(POLICIES[precision])
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def sized_model(config, precision):
    """A model of a `Config`'s sizes with new weights, computing in "float32" or "bfloat16"."""
    with computing_in(precision):
        return transformer(
            config.vocab_size, config.num_layers, config.dff, config.d_model, config.num_heads, config.dropout
        )


def random_batch(vocab_size, batch, length):
    """Questions, answers and the tokens to predict: int32 (batch, length) each, none of them padding."""
    random = np.random.default_rng(0)
    return tuple(random.integers(FIRST_ID, vocab_size, (batch, length), dtype="int32") for _ in range(3))


def gradient_step(model):
    """A forward and a backward pass as one compiled function of a batch, which returns when it is done."""
    anything = tf.TensorSpec((None, None), tf.int32)

    @tf.function(input_signature=[anything] * 3, autograph=False)
    def step(inputs, dec_inputs, targets):
        with tf.GradientTape() as tape:
            loss = loss_function(targets, model([inputs, dec_inputs], training=True))
        # A gradient that nobody reads would not be computed.
        return tape.gradient(loss, model.trainable_variables)

    return lambda *batch: step(*batch)[-1].numpy()
