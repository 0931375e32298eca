"""The search for answers as TensorFlow operations, which any process can run, also from several threads."""

import functools

import tensorflow as tf

from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.generate import WIDTHS, make_beam_program, make_program
from keras_transformer.models.incremental import IncrementalTransformer

BATCH = 64  # Maximum number of answers or beams per batch.
LOCK = "keras_transformer/search"


class GraphSearch(tf.Module):
    """A search for answers in a graph, compiled at most once for each of a few shapes.

    Args:
        model: A `transformer()`.
        weights: Its `GraphWeights`.
        config: The `GenerationConfig`, with its `max_length`.
        tokens: The `AnswerTokens`.
        xla: Whether to compile it with XLA.
    """

    def __init__(self, model, weights, config, tokens, xla):
        super().__init__()
        self.weights, self.config = weights, config
        self.shape = config.num_return, config.max_length
        beams = isinstance(config.strategy, Beam)
        copies = config.strategy.num_beams if beams else config.num_return
        self.sizes = [size for size in (1, 2, 4, 8, 16, 32, BATCH) if size == 1 or size * copies <= BATCH]
        make, find = (make_beam_program, self.by_beams) if beams else (make_program, self.apart)
        (program,) = make(IncrementalTransformer(model), config, tokens)
        self.program = weights.bound(model, program)
        self.find = tf.function(find, jit_compile=xla, autograph=False)
        if xla:
            self.find = functools.partial(alone_or_together if copies == 1 else together, self.find)

    def __call__(self, ids):
        """Generates answers.

        Args:
            ids: Token ids of questions, int32 (batch, length). Rows of zeros get no answer.

        Returns:
            Ids (batch, num_return, max_length) and scores (batch, num_return).
        """
        count, length = tf.unstack(tf.shape(ids))
        size, width = least_of(self.sizes, count), width_of(length)
        calls = tf.maximum(1, -(-count // size))
        ids = tf.pad(ids, ((0, calls * size - count), (0, width - length)))
        kinds = tf.TensorSpec((None, *self.shape), tf.int32), tf.TensorSpec((None, self.shape[0]), tf.float32)
        ids, scores = tf.map_fn(
            self.find, tf.reshape(ids, (calls, size, width)), fn_output_signature=kinds, parallel_iterations=1
        )
        return tf.reshape(ids, (-1, *self.shape))[:count], tf.reshape(scores, (-1, self.shape[0]))[:count]

    def apart(self, ids):
        """Runs greedy decoding or sampling, where answers are independent."""
        count, (num_return, max_length) = tf.shape(ids)[0], self.shape
        uniforms = tf.constant(self.config.strategy.draw(1, num_return, max_length))
        ids, scores = self.program(tf.repeat(ids, num_return, axis=0), tf.tile(uniforms, (count, 1)))
        return tf.reshape(ids, (-1, *self.shape)), tf.reshape(scores, (-1, num_return))

    def by_beams(self, ids):
        """Runs beam search."""
        pool = self.program(ids)
        return tuple(pool[name][:, : self.shape[0]] for name in ("ids", "scores"))


def least_of(sizes, count):
    """Returns the smallest of ascending sizes that is at least `count`, or the largest size."""
    return tf.reduce_min(tf.where(tf.constant(sizes) >= count, sizes, sizes[-1]))


def width_of(length):
    """Computes `bucket_length` for a tensor."""
    return tf.where(length <= WIDTHS[-1], least_of(WIDTHS, length), -(-length // WIDTHS[-1]) * WIDTHS[-1])


def alone_or_together(find, ids):
    """Calls a compiled function with ids (rows, length). A single row has a faster program, see `layers.dense`."""
    alone = tf.equal(tf.shape(ids)[0], 1)
    return one_at_a_time(lambda: tf.cond(alone, lambda: find(tf.ensure_shape(ids, (1, None))), lambda: find(ids)))


def together(find, ids):
    """Calls a compiled function with ids (rows, length) that has several answers to each, so never a single row."""
    return one_at_a_time(lambda: find(ids))


def one_at_a_time(function):
    """Calls the function under a process-wide lock: see `backend.xla`."""
    lock = tf.raw_ops.MutexLock(mutex=tf.raw_ops.MutexV2(shared_name=LOCK))
    with tf.control_dependencies([lock]):
        outputs = function()
    with tf.control_dependencies(tf.nest.flatten(outputs)):
        released = tf.raw_ops.ConsumeMutexLock(mutex_lock=lock)
    with tf.control_dependencies([released]):
        return tf.nest.map_structure(tf.identity, outputs)
