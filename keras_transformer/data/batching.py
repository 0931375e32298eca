"""Batches of pairs of similar lengths."""

import functools
import itertools

import numpy as np
import tensorflow as tf


class Batches:
    """Batches without end, in an order fixed by the seed, so that a training can go on at any step.

    A subclass says how many there are in an epoch, `__len__`, and what they hold, `at`.

    Attributes:
        inputs: Names of the model's inputs.
        shapes: Shapes of the inputs and of the targets; None where batches differ.
        repeats: Whether every epoch has the same batches in the same order.
    """

    inputs: tuple
    shapes: tuple
    repeats: bool

    def __len__(self):
        """Batches in an epoch."""
        raise NotImplementedError

    def at(self, step):
        """The batch of a step, counted from 0 over all epochs: the arrays of `inputs`, then the targets, int32."""
        raise NotImplementedError

    def dataset(self, steps):
        """The batches of the steps that a dataset of numbers gives, as `model.fit` takes them."""

        def batch(step):
            arrays = tf.numpy_function(self.at, [step], [tf.int32] * (len(self.inputs) + 1), stateful=False)
            *inputs, targets = map(tf.ensure_shape, arrays, self.shapes)
            return dict(zip(self.inputs, inputs)), targets

        options = tf.data.Options()
        options.autotune.enabled = False  # Nothing to tune here, and its thread delays the end of every iterator.
        return steps.map(batch).prefetch(2).with_options(options)

    def from_step(self, step):
        """The batches from a step on, without end."""
        return self.dataset(tf.data.Dataset.range(step, np.iinfo("int64").max))

    def epochs(self):
        """One epoch, finite; every further pass over the dataset is the next epoch."""
        numbers = itertools.count()

        def steps():
            first = 0 if self.repeats else next(numbers) * len(self)
            yield from range(first, first + len(self))

        dataset = tf.data.Dataset.from_generator(steps, output_signature=tf.TensorSpec((), tf.int64))
        return self.dataset(dataset).apply(tf.data.experimental.assert_cardinality(len(self)))


POOL = 100  # Batches whose pairs are sorted together: more would need less padding, and learn worse from likes alone.


class Buckets(Batches):
    """Batches that hold one pair in each row: "inputs" (batch, question length), "dec_inputs" (batch, answer length).

    Args:
        encoded: The `EncodedPairs`.
        batch_size: Pairs in a batch.
        shuffle: Whether the order changes from epoch to epoch.
        seed: Seed of that order.
    """

    inputs = ("inputs", "dec_inputs")
    shapes = ((None, None),) * 3

    def __init__(self, encoded, batch_size, shuffle=True, seed=0):
        self.encoded, self.batch_size, self.seed, self.repeats = encoded, batch_size, seed, not shuffle
        self.lengths = encoded.lengths
        self._epoch = functools.lru_cache(maxsize=2)(self._plan)

    def __len__(self):
        whole, rest = divmod(len(self.encoded), POOL * self.batch_size)
        return whole * POOL + -(-rest // self.batch_size)

    def _plan(self, epoch):
        """The rows of each batch of an epoch."""
        if self.repeats:
            return self._cut(by_length(self.lengths))
        random = np.random.default_rng((self.seed, epoch))
        order = random.permutation(len(self.encoded))
        batches = []
        for i in range(0, len(order), POOL * self.batch_size):
            pool = order[i : i + POOL * self.batch_size]
            batches += self._cut(pool[by_length(self.lengths[pool])])
        random.shuffle(batches)
        return batches

    def _cut(self, order):
        return [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]

    def at(self, step):
        epoch, index = divmod(int(step), len(self))
        rows = self._epoch(epoch)[index]
        answers = [self.encoded.answer(row) for row in rows]
        return (
            pad([self.encoded.question(row) for row in rows]),
            pad([answer[:-1] for answer in answers]),
            pad([answer[1:] for answer in answers]),
        )


def by_length(lengths):
    """The order that puts pairs of similar lengths side by side, in both texts.

    Answers are sorted in bands of two lengths; within a band by question, upwards and downwards in turn, so that the
    questions stay similar where one band meets the next. On the Korean chatbot corpus 92 % of a batch is then real
    tokens, where plain sorting gives 87 %.

    Args:
        lengths: Integers (pairs, 2) of question and answer lengths.

    Returns:
        Row numbers (pairs,); equal pairs stay in their order.
    """
    question, answer = lengths.T
    band = answer // 2
    return np.lexsort((answer, np.where(band % 2, -question, question), band))


def pad(rows):
    """Rows of ids, filled up with 0 to the longest: int32 (rows, length)."""
    table = np.zeros((len(rows), max(map(len, rows))), "int32")
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table
