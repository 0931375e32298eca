"""What all batches for `model.fit` share: the batch at a step depends on the step and the seed alone."""

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
