"""Sequence packing: several pairs in a row, all batches of one shape."""

import array
import functools

import numpy as np

from keras_transformer.data.batching import Batches


class PackedRows(Batches):
    """Batches for a `packed()` model: each row holds several questions, and at the same place their answers.

    The pairs of a row stay together; the order of the rows changes. The last batch of an epoch is filled up with rows
    of padding.

    Args:
        encoded: The `EncodedPairs`.
        batch_size: Pairs in a batch, on average.
        batch_tokens: Question and answer tokens in a batch, on average, instead of `batch_size`; 0 for the latter.
        shuffle: Whether the order of the rows changes from epoch to epoch.
        seed: Seed of the packing and of that order.
        multiple: Rows of padding are added to each batch until the number of its rows is a multiple of this one.
        share: Which of how many equal shares of a batch's rows are laid out, a pair (number from 0 on, count).
    """

    inputs = ("inputs", "segments", "dec_inputs", "dec_segments")

    def __init__(self, encoded, batch_size, batch_tokens=0, shuffle=True, seed=0, multiple=1, share=(0, 1)):
        self.encoded, self.seed, self.repeats = encoded, seed, not shuffle
        lengths = encoded.lengths
        self.widths = choose_widths(lengths)
        self._pairs, ends = array.array("q"), array.array("q", [0])
        for row in pack(lengths, self.widths, np.random.default_rng(seed)):
            self._pairs.extend(row)
            ends.append(len(self._pairs))
        self._ends, self.rows = ends, len(ends) - 1
        of_epoch = batch_tokens / lengths.sum() if batch_tokens else batch_size / len(encoded)
        self.rows_per_batch = min(max(1, round(self.rows * of_epoch)), self.rows)
        filled, (number, count) = -(-self.rows_per_batch // multiple) * multiple, share
        self._mine = range(number * filled // count, (number + 1) * filled // count)
        self.shapes = tuple((len(self._mine), self.widths[side]) for side in (0, 0, 1, 1, 1))
        self._order = functools.lru_cache(maxsize=2)(self._plan)

    def __len__(self):
        return -(-self.rows // self.rows_per_batch)

    def _plan(self, epoch):
        """The order of the rows in an epoch."""
        if self.repeats:
            return np.arange(self.rows)
        return np.random.default_rng((self.seed, epoch)).permutation(self.rows)

    def at(self, step):
        epoch, index = divmod(int(step), len(self))
        order = self._order(epoch)[index * self.rows_per_batch :][: self.rows_per_batch]
        order = order[self._mine.start : self._mine.stop]
        rows = [self._pairs[self._ends[row] : self._ends[row + 1]] for row in order]
        return lay_out(self.encoded, rows + [()] * (len(self._mine) - len(rows)), self.widths)


def lay_out(encoded, packed, widths):
    """The rows as arrays, int32 (rows, width), 0 for padding: the four inputs and the targets."""
    inputs, segments = np.zeros((2, len(packed), widths[0]), "int32")
    dec_inputs, dec_segments, targets = np.zeros((3, len(packed), widths[1]), "int32")
    for row, pairs in enumerate(packed):
        asked = answered = 0
        for segment, pair in enumerate(pairs, 1):
            question, answer = encoded.question(pair), encoded.answer(pair)
            there, here = slice(asked, asked + len(question)), slice(answered, answered + len(answer) - 1)
            inputs[row, there], segments[row, there] = question, segment
            dec_inputs[row, here], dec_segments[row, here], targets[row, here] = answer[:-1], segment, answer[1:]
            asked, answered = there.stop, here.stop
    return inputs, segments, dec_inputs, dec_segments, targets


WIDTH = 64  # Tokens that a row holds of the longer side, or as many as its longest text has.
POOL = 4096  # Pairs that are packed together; more would fill the rows no better.


def choose_widths(lengths):
    """How many tokens a row holds of questions and of answers, so that both sides are full at about the same time.

    Args:
        lengths: Token counts (pairs, 2).

    Returns:
        Integers (2,): multiples of 8, none below the longest text of its side.
    """
    means = lengths.mean(axis=0)
    wanted = np.maximum(WIDTH * means / means.max(), lengths.max(axis=0))
    return (8 * np.ceil(wanted / 8)).astype(int)


def pack(lengths, widths, random):
    """Puts pairs into rows, each into the first row that has room for both its texts.

    Args:
        lengths: Token counts (pairs, 2), none above `widths`.
        widths: Tokens that a row holds of each side, (2,).
        random: NumPy generator of the order in which the pairs come.

    Yields:
        For each row a list of the numbers of its pairs.
    """
    order = random.permutation(len(lengths))
    for i in range(0, len(order), POOL):
        pool = order[i : i + POOL]
        room, opened = np.tile(widths, (len(pool), 1)), []
        for pair in pool:
            fits = (room[: len(opened)] >= lengths[pair]).all(axis=1)
            row = int(fits.argmax()) if fits.any() else len(opened)
            if row == len(opened):
                opened.append([])
            opened[row].append(pair)
            room[row] -= lengths[pair]
        yield from opened
