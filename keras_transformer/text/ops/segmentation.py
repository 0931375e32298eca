"""How a text falls into the pieces of a vocabulary, for each kind that SentencePiece learns.

All give the ids of strings (batch,) as an int32 RaggedTensor (batch, None). A character that no piece covers has the
id `size` + its code point, where `size` is that of the vocabulary; an unknown word the id `size`.
"""

import math

import tensorflow as tf

from keras_transformer.text.ops.places import borders, passed, places
from keras_transformer.text.ops.trie import NONE, Trie, pair, table
from keras_transformer.text.sentence_pieces import SPACE

UNKNOWN_PENALTY = 10.0  # SentencePiece's: what is unknown scores so much below the worst piece.


class Words(tf.Module):
    """Each word is a piece.

    Args:
        pieces: A dictionary of the pieces and their ids.
        scores: The scores of all ids, a list.
    """

    def __init__(self, pieces, scores):
        super().__init__()
        self._ids = table(pieces, len(scores))

    def __call__(self, texts):
        words = tf.strings.split(tf.strings.regex_replace(texts, SPACE, f" {SPACE}"))
        return words.with_values(self._ids.lookup(words.values))


class Characters(tf.Module):
    """Each character is a piece; takes the same arguments as the others."""

    def __init__(self, pieces, scores):
        super().__init__()
        self._size = len(scores)
        self._ids = table({ord(piece): i for piece, i in pieces.items() if len(piece) == 1}, NONE)

    def __call__(self, texts):
        characters = tf.strings.unicode_decode(texts, "UTF-8")
        ids = self._ids.lookup(tf.cast(characters.values, tf.int64))
        return characters.with_values(tf.where(ids == NONE, self._size + characters.values, ids))


class BytePairs(tf.Module):
    """Of all neighbours those are joined that make the piece of the highest score, again and again."""

    def __init__(self, pieces, scores):
        super().__init__()
        self._characters = Characters(pieces, scores)
        units = {character: len(scores) + ord(character) for piece in pieces for character in piece} | pieces
        merges, neighbours = {}, {}
        for piece, i in pieces.items():
            for middle in range(1, len(piece)):
                neighbours[pair(units[piece[middle - 1]], units[piece[middle]])] = 1
                if piece[:middle] in units and piece[middle:] in units:
                    merges[pair(units[piece[:middle]], units[piece[middle:]])] = i
        self._merges, self._neighbours = table(merges, NONE), table(neighbours, 0)
        ranks = {score: rank for rank, score in enumerate(sorted(set(scores), reverse=True))}
        self._ranks = tf.constant([ranks[score] for score in scores], tf.int64)

    def __call__(self, texts):
        units = self._characters(texts).with_row_splits_dtype(tf.int32)
        rows = units.value_rowids()
        # A text falls apart between two characters that are neighbours in no piece; each group has its own joins.
        apart = (rows[1:] != rows[:-1]) | (self._neighbours.lookup(neighbours_of(units.values)) == 0)
        groups = tf.cumsum(tf.cast(tf.concat([tf.zeros_like(rows[:1], tf.bool), apart], axis=0), tf.int32))
        row_of_group = tf.math.segment_max(rows, groups)
        start = units.values, groups, tf.constant(True)
        values, groups, _ = tf.while_loop(lambda values, groups, more: more, self._join, start)
        return tf.RaggedTensor.from_value_rowids(values, tf.gather(row_of_group, groups), units.nrows())

    def _join(self, units, groups, _):
        """One join in each group that has one left: the best, of equals the first."""
        joined = tf.where(groups[1:] == groups[:-1], self._merges.lookup(neighbours_of(units)), NONE)
        place = tf.range(tf.size(joined, tf.int64))
        order = tf.where(joined == NONE, tf.int64.max, pair(tf.gather(self._ranks, tf.maximum(joined, 0)), place))
        best = tf.gather(tf.math.segment_min(order, groups[:-1]), groups[:-1])
        joins = (joined != NONE) & (order == best)
        kept = tf.concat([tf.ones_like(units[:1], tf.bool), ~joins], axis=0)
        units = tf.concat([tf.where(joins, joined, units[:-1]), units[-1:]], axis=0)
        return tf.boolean_mask(units, kept), tf.boolean_mask(groups, kept), tf.reduce_any(joins)


class Unigram(tf.Module):
    """The pieces are those of the highest sum of scores (Viterbi); of equal sums that with the longest piece last."""

    def __init__(self, pieces, scores):
        super().__init__()
        self._pieces, self._size = Trie(pieces), len(scores)
        unknown = min(scores[i] for i in pieces.values()) - UNKNOWN_PENALTY
        self._scores = tf.constant([*scores, unknown, -math.inf])

    def __call__(self, texts):
        characters = places(texts)
        begins, ends = borders(characters)
        ids = self._pieces.find(characters.values)
        single = tf.where(ids[:, 0] == NONE, self._size + characters.values, ids[:, 0])
        ids = tf.concat([tf.where(ends, NONE, single)[:, None], ids[:, 1:]], axis=1)
        scores = tf.gather(self._scores, tf.where(ids == NONE, self._size + 1, tf.minimum(ids, self._size)))
        lengths = self._last_lengths(scores, self._best(scores, characters))
        here = tf.range(tf.size(lengths))
        last = passed(ends, here - lengths) & ~begins
        here, lengths = tf.boolean_mask(here, last), tf.boolean_mask(lengths, last)
        ids = tf.gather_nd(ids, tf.stack([here - lengths, lengths - 1], axis=1))
        rows = tf.boolean_mask(characters.value_rowids(), last)
        return tf.RaggedTensor.from_value_rowids(ids, rows, characters.nrows())

    def _best(self, scores, characters):
        """The highest sum of scores before each place of a text: float32 (places,)."""
        begins, steps = characters.row_starts(), tf.reduce_max(tf.concat([[1], characters.row_lengths()], axis=0))
        nothing = tf.fill([characters.nrows(), self._pieces.longest], -math.inf)

        def step(n, ahead, sums):
            """From the sums at this place, and so far at those ahead, to the next place."""
            here = tf.minimum(begins + n, tf.shape(scores)[0] - 1)
            further = tf.maximum(tf.concat([ahead[:, 1:], nothing[:, :1]], axis=1), ahead[:, :1] + tf.gather(scores, here))
            return n + 1, further, sums.write(n, ahead[:, 0])

        ahead = tf.concat([tf.zeros_like(nothing[:, :1]), nothing[:, 1:]], axis=1)
        sums = tf.TensorArray(tf.float32, steps, element_shape=[None])
        _, _, sums = tf.while_loop(lambda n, *_: n < steps, step, (0, ahead, sums))
        return tf.gather_nd(sums.stack(), tf.stack([in_row(characters), characters.value_rowids()], axis=1))

    def _last_lengths(self, scores, best):
        """The length of the last piece on the best way to each place, 0 where a text begins: int32 (places,)."""
        lengths = tf.range(1, self._pieces.longest + 1)
        count = tf.size(best)
        ends = tf.minimum(tf.range(count)[:, None] + lengths, count - 1)
        sums = best[:, None] + scores
        lengths = tf.where((sums == tf.gather(best, ends)) & (sums > -math.inf), lengths, 0)
        return tf.maximum(tf.math.unsorted_segment_max(lengths, ends, count), 0)


def neighbours_of(units):
    """Keys of each two that stand side by side."""
    units = tf.cast(units, tf.int64)
    return pair(units[:-1], units[1:])


def in_row(rows):
    """The place of each value in its row of a RaggedTensor."""
    return tf.range(tf.size(rows.values)) - tf.gather(rows.row_starts(), rows.value_rowids())
