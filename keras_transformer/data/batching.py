"""Batches of pairs of similar lengths."""

import functools
import itertools

import numpy as np

from keras_transformer.padding import pad


class Batches:
    """Base class of infinite batches in an order fixed by the seed, so that training can be resumed at any step.

    Subclasses define the number of batches in an epoch, `__len__`, and their content, `at`.

    Attributes:
        inputs: Names of the model inputs.
        shapes: Shapes of the inputs and of the targets; None for variable dimensions.
        repeats: Whether every epoch has the same batches in the same order.
    """

    inputs: tuple
    shapes: tuple
    repeats: bool

    def __len__(self):
        """Returns the number of batches in an epoch."""
        raise NotImplementedError

    def at(self, step):
        """Returns the batch of a step, counted from 0 over all epochs: the `inputs` and the targets, int32 arrays."""
        raise NotImplementedError

    def dataset(self, steps):
        """Maps a dataset of step numbers to batches for `model.fit`."""
        import tensorflow as tf  # Takes seconds, and planning batches does not need it.

        @tf.autograph.experimental.do_not_convert
        def batch(step):
            arrays = tf.numpy_function(self.at, [step], [tf.int32] * (len(self.inputs) + 1), stateful=False)
            *inputs, targets = map(tf.ensure_shape, arrays, self.shapes)
            return dict(zip(self.inputs, inputs)), targets

        options = tf.data.Options()
        options.autotune.enabled = False  # There is nothing to tune, and its thread delays the end of each iterator.
        return steps.map(batch).prefetch(2).with_options(options)

    def from_step(self, step):
        """Returns an infinite dataset of the batches from a step on."""
        import tensorflow as tf

        return self.dataset(tf.data.Dataset.range(step, np.iinfo("int64").max))

    def epochs(self):
        """Returns a finite dataset of one epoch; each further pass over it yields the next epoch."""
        import tensorflow as tf

        numbers = itertools.count()

        def steps():
            first = 0 if self.repeats else next(numbers) * len(self)
            yield from range(first, first + len(self))

        dataset = tf.data.Dataset.from_generator(steps, output_signature=tf.TensorSpec((), tf.int64))
        return self.dataset(dataset).apply(tf.data.experimental.assert_cardinality(len(self)))


POOL = 100  # Batches whose pairs are sorted together. More reduce padding, but batches of similar pairs train worse.


class Buckets(Batches):
    """Batches with one pair per row: "inputs" (batch, question length), "dec_inputs" (batch, answer length).

    Args:
        encoded: The `EncodedPairs`.
        batch_size: Number of pairs in a batch.
        shuffle: Whether to shuffle the pairs in each epoch.
        seed: Seed of the shuffling.
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
        """Returns the pair indices of each batch in an epoch."""
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
    """Sorts pairs so that neighbours have similar lengths in both texts.

    Pairs are sorted by answer length in bands of two lengths, and within a band by question length, ascending and
    descending alternately, so that question lengths stay similar between adjacent bands. On the Korean chatbot corpus,
    92 % of the tokens in a batch are then not padding, compared with 87 % for plain sorting.

    Args:
        lengths: Integers (pairs, 2) of question and answer lengths.

    Returns:
        Pair indices (pairs,); the order of equal pairs is stable.
    """
    question, answer = lengths.T
    band = answer // 2
    return np.lexsort((answer, np.where(band % 2, -question, question), band))
