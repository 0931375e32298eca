"""Pairs of text to batches for `model.fit`: tokenized once, grouped by length, in an order fixed by the seed."""

import functools
import itertools
import warnings

import numpy as np
import tensorflow as tf

from keras_transformer.data.corpus import CorpusWarning, check_pairs
from keras_transformer.errors import InputError

POOL = 100  # Batches whose pairs are sorted together: more would need less padding, and learn worse from likes alone.


class Batches:
    """A corpus as token ids, cut into batches of similar lengths.

    The batch at a step depends on the seed and the step alone, so a training can go on at any step.

    Args:
        pairs: DataFrame with the columns "question" and "answer".
        tokenizer: A `Tokenizer`.
        batch_size: Pairs in a batch.
        max_length: Tokens a question or an answer may have, start and end included; longer pairs are left out with a
            `CorpusWarning`. None for no limit.
        shuffle: Whether the order changes from epoch to epoch.
        seed: Seed of that order.

    Attributes:
        pairs: The pairs that are not too long.
        tokens: Number of answer tokens to predict in an epoch, end tokens included.

    Raises:
        InputError: If no pair is left.
    """

    def __init__(self, pairs, tokenizer, batch_size=64, max_length=None, shuffle=True, seed=0):
        start, end = [tokenizer.start_id], [tokenizer.end_id]
        questions = [np.array(start + ids + end, "int32") for ids in tokenizer.encode(list(pairs["question"]))]
        answers = [np.array(start + ids + end, "int32") for ids in tokenizer.encode(list(pairs["answer"]))]
        fits = [max_length is None or max(map(len, pair)) <= max_length for pair in zip(questions, answers)]
        self.questions = list(itertools.compress(questions, fits))
        self.answers = list(itertools.compress(answers, fits))
        self.pairs = pairs[fits]
        if len(self.pairs) < len(pairs):
            warn_of_long_pairs(pairs, fits, max_length)
        if not self.questions:
            raise InputError(f"no pair of at most {max_length} tokens: nothing to make batches of")
        self.tokens = sum(map(len, self.answers)) - len(self.answers)
        self.batch_size, self.shuffle, self.seed = batch_size, shuffle, seed
        self.lengths = np.array([list(map(len, self.answers)), list(map(len, self.questions))]).T
        self._epoch = functools.lru_cache(maxsize=2)(self._plan)

    def __len__(self):
        """Batches in an epoch."""
        pool = POOL * self.batch_size
        whole, rest = divmod(len(self.questions), pool)
        return whole * POOL + -(-rest // self.batch_size)

    def _plan(self, epoch):
        """The rows of each batch of an epoch."""
        if not self.shuffle:
            order = by_length(self.lengths)
            return [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        random = np.random.default_rng((self.seed, epoch))
        order = random.permutation(len(self.questions))
        batches = []
        for i in range(0, len(order), POOL * self.batch_size):
            pool = order[i : i + POOL * self.batch_size]
            pool = pool[by_length(self.lengths[pool])]
            batches += [pool[j : j + self.batch_size] for j in range(0, len(pool), self.batch_size)]
        random.shuffle(batches)
        return batches

    def at(self, step):
        """The batch of a step, counted from 0 over all epochs.

        Returns:
            Questions (batch, question length), answers from the start token on, and the tokens to predict, both
            (batch, answer length): int32, padded with 0 at the end.
        """
        epoch, index = divmod(int(step), len(self))
        rows = self._epoch(epoch)[index]
        answers = [self.answers[row] for row in rows]
        return (
            pad([self.questions[row] for row in rows]),
            pad([answer[:-1] for answer in answers]),
            pad([answer[1:] for answer in answers]),
        )

    def dataset(self, steps):
        """The batches of the steps that a dataset of numbers gives, as `model.fit` takes them."""

        def batch(step):
            arrays = tf.numpy_function(self.at, [step], [tf.int32] * 3, stateful=False)
            inputs, dec_inputs, targets = (tf.ensure_shape(array, (None, None)) for array in arrays)
            return {"inputs": inputs, "dec_inputs": dec_inputs}, targets

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
            first = next(numbers) * len(self) if self.shuffle else 0
            yield from range(first, first + len(self))

        dataset = tf.data.Dataset.from_generator(steps, output_signature=tf.TensorSpec((), tf.int64))
        return self.dataset(dataset).apply(tf.data.experimental.assert_cardinality(len(self)))


def make_dataset(pairs, tokenizer, batch_size=64, max_length=None, shuffle=True, seed=0):
    """A dataset for `model.fit`: batches of pairs of similar length, with almost no padding.

    Args:
        pairs: DataFrame with the columns "question" and "answer", as `load_pairs` returns it.
        tokenizer: A `Tokenizer`.
        batch_size: Pairs in a batch.
        max_length: Tokens a question or an answer may have, start and end included; longer pairs are left out with a
            `CorpusWarning`. None for no limit.
        shuffle: Whether every epoch has its own order.
        seed: Seed of that order.

    Returns:
        A finite `tf.data.Dataset` of ({"inputs", "dec_inputs"}, targets), int32 of shapes (batch, question length),
        (batch, answer length) and (batch, answer length).

    Raises:
        InputError: If the columns are not there or hold no text, or no pair is left.
    """
    return Batches(check_pairs(pairs), tokenizer, batch_size, max_length, shuffle, seed).epochs()


def by_length(lengths):
    """The order that puts pairs of similar lengths side by side, in both texts.

    Answers are sorted in bands of two lengths; within a band by question, upwards and downwards in turn, so that the
    questions stay similar where one band meets the next. On the Korean chatbot corpus 92 % of a batch is then real
    tokens, where plain sorting gives 87 %.

    Args:
        lengths: Integers (pairs, 2) of answer and question lengths.

    Returns:
        Row numbers (pairs,); equal pairs stay in their order.
    """
    answer, question = lengths.T
    band = answer // 2
    return np.lexsort((answer, np.where(band % 2, -question, question), band))


def pad(rows):
    """Rows of ids, filled up with 0 to the longest: int32 (rows, length)."""
    table = np.zeros((len(rows), max(map(len, rows))), "int32")
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def warn_of_long_pairs(pairs, fits, max_length):
    """Counts and names the pairs that are left out."""
    long = [question for question, fit in zip(pairs["question"], fits) if not fit]
    named = "; ".join(repr(question[:40]) for question in long[:3]) + ("; …" if len(long) > 3 else "")
    warnings.warn(
        f"{len(long)} of {len(pairs)} pairs are longer than {max_length} tokens and left out: {named}",
        CorpusWarning,
        stacklevel=4,
    )
