"""Sequence packing: several pairs per row, and one shape for all batches."""

import array
import functools

import numpy as np

from keras_transformer.data.batching import Batches


class PackedRows(Batches):
    """Batches for a `packed()` model, which contain several questions and their answers in each row.

    The pairs of a row stay together, and the rows are shuffled. The last batch of an epoch is filled up with rows of
    padding.

    Args:
        encoded: The `EncodedPairs`.
        batch_size: Average number of pairs in a batch.
        batch_tokens: Average number of question and answer tokens in a batch; replaces `batch_size` unless 0.
        shuffle: Whether to shuffle the rows in each epoch.
        seed: Seed of packing and shuffling.
        multiple: Pads the number of rows in each batch to a multiple of this number.
        share: Shard of the rows of each batch to return, a pair (index from 0 on, number of shards).
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
        batch_share = batch_tokens / lengths.sum() if batch_tokens else batch_size / len(encoded)
        self.rows_per_batch = min(max(1, round(self.rows * batch_share)), self.rows)
        filled, (number, count) = -(-self.rows_per_batch // multiple) * multiple, share
        self._shard = range(number * filled // count, (number + 1) * filled // count)
        self.shapes = tuple((len(self._shard), self.widths[side]) for side in (0, 0, 1, 1, 1))
        self._order = functools.lru_cache(maxsize=2)(self._plan)

    def __len__(self):
        return -(-self.rows // self.rows_per_batch)

    def _plan(self, epoch):
        """Returns the order of the rows in an epoch."""
        if self.repeats:
            return np.arange(self.rows)
        return np.random.default_rng((self.seed, epoch)).permutation(self.rows)

    def at(self, step):
        epoch, index = divmod(int(step), len(self))
        order = self._order(epoch)[index * self.rows_per_batch :][: self.rows_per_batch]
        order = order[self._shard.start : self._shard.stop]
        rows = [self._pairs[self._ends[row] : self._ends[row + 1]] for row in order]
        return lay_out(self.encoded, rows + [()] * (len(self._shard) - len(rows)), self.widths)


def lay_out(encoded, packed, widths):
    """Returns the four inputs and the targets of packed rows as int32 arrays (rows, width), 0 for padding."""
    inputs, segments = np.zeros((2, len(packed), widths[0]), "int32")
    dec_inputs, dec_segments, targets = np.zeros((3, len(packed), widths[1]), "int32")
    for row, pairs in enumerate(packed):
        start = dec_start = 0
        for segment, pair in enumerate(pairs, 1):
            question, answer = encoded.question(pair), encoded.answer(pair)
            span, dec_span = slice(start, start + len(question)), slice(dec_start, dec_start + len(answer) - 1)
            inputs[row, span], segments[row, span] = question, segment
            dec_inputs[row, dec_span], dec_segments[row, dec_span] = answer[:-1], segment
            targets[row, dec_span] = answer[1:]
            start, dec_start = span.stop, dec_span.stop
    return inputs, segments, dec_inputs, dec_segments, targets


WIDTH = 64  # Width in tokens of the longer side; the longest text may increase it.
POOL = 4096  # Number of pairs packed together; larger pools do not fill the rows better.


def choose_widths(lengths):
    """Chooses the row widths of questions and answers so that both sides fill up at about the same time.

    Args:
        lengths: Token counts (pairs, 2).

    Returns:
        Integers (2,): multiples of 8, not below the longest text of each side.
    """
    means = lengths.mean(axis=0)
    targets = np.maximum(WIDTH * means / means.max(), lengths.max(axis=0))
    return (8 * np.ceil(targets / 8)).astype(int)


def pack(lengths, widths, random):
    """Packs pairs into rows by first fit: each pair goes into the first row with space for both its texts.

    Args:
        lengths: Token counts (pairs, 2), none above `widths`.
        widths: Row widths of questions and answers, (2,).
        random: NumPy generator that shuffles the pairs.

    Yields:
        For each row, a list of the indices of its pairs.
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
