"""Segmentation of texts into the pieces of a vocabulary, for each SentencePiece model type.

Each class takes a dictionary from pieces to ids, and the list of the scores of all ids. Called with strings (batch,),
it returns ids as an int32 RaggedTensor (batch, None). A character that no piece covers gets the vocabulary size plus
its code point as its id, and an unknown word the vocabulary size.
"""

import math

import tensorflow as tf

from keras_transformer.text.ops.positions import code_points, every_second, reachable, row_ends
from keras_transformer.text.ops.trie import NONE, Trie, pair, table
from keras_transformer.text.sentence_pieces import SPACE

UNKNOWN_PENALTY = 10.0  # As in SentencePiece: unknown characters score this much below the worst piece.


class Words(tf.Module):
    """Each word is a piece."""

    def __init__(self, pieces, scores):
        super().__init__()
        self._ids = table(pieces, len(scores))

    def __call__(self, texts):
        words = tf.strings.split(tf.strings.regex_replace(texts, SPACE, f" {SPACE}"))
        return words.with_values(self._ids.lookup(words.values)).with_row_splits_dtype(tf.int32)


class Characters(tf.Module):
    """Each character is a piece."""

    def __init__(self, pieces, scores):
        super().__init__()
        self._size = len(scores)
        self._ids = table({ord(piece): i for piece, i in pieces.items() if len(piece) == 1}, NONE)

    def __call__(self, texts):
        characters = tf.strings.unicode_decode(texts, "UTF-8").with_row_splits_dtype(tf.int32)
        ids = self._ids.lookup(tf.cast(characters.values, tf.int64))
        return characters.with_values(tf.where(ids == NONE, self._size + characters.values, ids))


class BytePairs(tf.Module):
    """Byte-pair encoding: repeatedly joins the adjacent pair whose piece has the highest score."""

    def __init__(self, pieces, scores):
        super().__init__()
        self._characters, self._nothing = Characters(pieces, scores), len(scores)
        units = {character: len(scores) + ord(character) for piece in pieces for character in piece} | pieces
        joins, neighbours = {}, {}
        for piece, i in pieces.items():
            for middle in range(1, len(piece)):
                neighbours[pair(units[piece[middle - 1]], units[piece[middle]])] = 1
                if (left := piece[:middle]) in units and (right := piece[middle:]) in units:
                    joins[units[left], units[right]] = i
        self._joins = table({pair(*parts): i for parts, i in joins.items()}, self._nothing)
        self._neighbours = table(neighbours, 0)
        order = {score: rank for rank, score in enumerate(sorted(set(scores), reverse=True))}
        ranks = [*(order[score] for score in scores), len(order)]
        # A piece with one of these ranks may be part of a better piece, which must be joined before the next of them.
        early = {ranks[x] for parts, i in joins.items() for x in parts if x < len(scores) and ranks[i] <= ranks[x]}
        self._ranks, self._late = tf.constant(ranks), tf.constant([x not in early for x in range(len(order) + 1)])

    def __call__(self, texts):
        units = self._characters(texts)
        rows = units.value_rowids()
        # A text is split between characters that are adjacent in no piece. The groups are processed in parallel.
        apart = (rows[1:] != rows[:-1]) | (self._neighbours.lookup(neighbours_of(units.values)) == 0)
        groups = tf.cumsum(tf.cast(tf.concat([tf.zeros_like(rows[:1], tf.bool), apart], axis=0), tf.int32))
        row_of_group = tf.math.segment_max(rows, groups)
        state = units.values, groups, tf.constant(True)
        values, groups, _ = tf.while_loop(lambda values, groups, more: more, self._join, state)
        return tf.RaggedTensor.from_value_rowids(values, tf.gather(row_of_group, groups), units.nrows())

    def _join(self, units, groups, _):
        """Applies the best join of each group. Of equal ones, the first, or all if they cannot enable a better join.

        Args:
            units: Ids, int32 (units,).
            groups: Group numbers, int32 (units,), ascending.

        Returns:
            A tuple of the units and groups after the joins, and whether there were any joins.
        """
        joined = tf.where(groups[1:] == groups[:-1], self._joins.lookup(neighbours_of(units)), self._nothing)
        ranks, groups_of_joins = tf.gather(self._ranks, joined), groups[:-1]
        best = tf.gather(tf.math.segment_min(ranks, groups_of_joins), groups_of_joins)
        joins = every_second((joined != self._nothing) & (ranks == best))
        position = tf.where(joins, tf.range(tf.size(joins)), tf.int32.max)
        first = position == tf.gather(tf.math.segment_min(position, groups_of_joins), groups_of_joins)
        joins &= first | tf.gather(self._late, ranks)
        kept = tf.concat([tf.ones_like(units[:1], tf.bool), ~joins], axis=0)
        units = tf.concat([tf.where(joins, joined, units[:-1]), units[-1:]], axis=0)
        return tf.boolean_mask(units, kept), tf.boolean_mask(groups, kept), tf.reduce_any(joins)


class Unigram(tf.Module):
    """Unigram language model: finds the segmentation with the highest sum of scores. Ties prefer a longer last piece.

    Sums are rounded as in SentencePiece while they are above -100,000. Below, SentencePiece restarts from 0, so it may
    choose differently between two nearly equal segmentations of a text of tens of thousands of characters.
    """

    def __init__(self, pieces, scores):
        super().__init__()
        self._pieces, self._size = Trie(pieces), len(scores)
        unknown = min(scores[i] for i in pieces.values()) - UNKNOWN_PENALTY
        self._scores = tf.constant([*scores, unknown, -math.inf])

    def __call__(self, texts):
        characters = code_points(texts)
        begins, ends = row_ends(characters)
        ids = self._pieces.find(characters.values)
        single = tf.where(ids[:, 0] == NONE, self._size + characters.values, ids[:, 0])
        ids = tf.concat([single[:, None], ids[:, 1:]], axis=1)
        scores = tf.gather(self._scores, tf.where(ids == NONE, self._size + 1, tf.minimum(ids, self._size)))
        lengths = self._last_lengths(scores, self._best_sums(scores, characters))
        positions = tf.range(tf.size(lengths))
        cuts = reachable(ends, positions - lengths) & ~begins  # A piece that ends where a text begins is `END`.
        positions, lengths, rows = (tf.boolean_mask(x, cuts) for x in (positions, lengths, characters.value_rowids()))
        ids = tf.gather_nd(ids, tf.stack([positions - lengths, lengths - 1], axis=1))
        return tf.RaggedTensor.from_value_rowids(ids, rows, characters.nrows())

    def _best_sums(self, scores, characters):
        """Computes the highest sum of scores up to each position (Viterbi), for all texts in parallel.

        Args:
            scores: Scores of the pieces of 1, 2, … characters from each position on, float32 (positions, longest).
            characters: RaggedTensor (batch, None). Only its row lengths are used.

        Returns:
            float32 (positions,).
        """
        begins, steps = characters.row_starts(), tf.reduce_max(tf.concat([[1], characters.row_lengths()], axis=0))
        nothing = tf.fill([characters.nrows(), self._pieces.longest], -math.inf)

        def step(n, ahead, sums):
            """Advances by one position. `ahead` holds the highest sums so far, for this position and the next ones."""
            positions = tf.minimum(begins + n, tf.shape(scores)[0] - 1)
            reached = ahead[:, :1] + tf.gather(scores, positions)
            following = tf.concat([ahead[:, 1:], nothing[:, :1]], axis=1)
            return n + 1, tf.maximum(following, reached), sums.write(n, ahead[:, 0])

        ahead = tf.concat([tf.zeros_like(nothing[:, :1]), nothing[:, 1:]], axis=1)
        sums = tf.TensorArray(tf.float32, steps, element_shape=[None])
        _, _, sums = tf.while_loop(lambda n, *_: n < steps, step, (0, ahead, sums))
        rows = characters.value_rowids()
        position_in_row = tf.range(tf.size(rows)) - tf.gather(begins, rows)
        return tf.gather_nd(sums.stack(), tf.stack([position_in_row, rows], axis=1))

    def _last_lengths(self, scores, sums):
        """Returns the length of the last piece of the best path to each position, int32 (positions,)."""
        lengths, count = tf.range(1, self._pieces.longest + 1), tf.size(sums)
        ends = tf.minimum(tf.range(count)[:, None] + lengths, count - 1)
        reached = sums[:, None] + scores
        lengths = tf.where((reached == tf.gather(sums, ends)) & (scores > -math.inf), lengths, 0)
        return tf.maximum(tf.math.unsorted_segment_max(lengths, ends, count), 0)


def neighbours_of(units):
    """Returns the keys of all adjacent pairs."""
    units = tf.cast(units, tf.int64)
    return pair(units[:-1], units[1:])
