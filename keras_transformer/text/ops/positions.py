"""Positions in concatenated texts, and paths between them."""

import tensorflow as tf

END = "\0"  # Terminates every text, so that no match extends into the next one.


def code_points(texts):
    """Returns the code points of strings (batch,), each terminated by `END`: int32 RaggedTensor (batch, None)."""
    return tf.strings.unicode_decode(tf.strings.join([texts, END]), "UTF-8").with_row_splits_dtype(tf.int32)


def row_ends(rows):
    """Marks the first and the last position of each row of a RaggedTensor without empty rows: two bool (positions,)."""
    return mask_of(rows.row_starts(), rows.values), mask_of(rows.row_limits() - 1, rows.values)


def mask_of(at, values):
    """Returns a mask of `values` that is true at the given distinct positions: bool (positions,)."""
    return tf.scatter_nd(at[:, None], tf.ones_like(at), tf.shape(values)) > 0


def every_second(marks):
    """Keeps the first, third, fifth, … mark of each run of adjacent marks, bool (positions,)."""
    numbers = tf.cast(marks, tf.int32)
    before, runs = tf.cumsum(numbers, exclusive=True), tf.cumsum(1 - numbers)
    return marks & ((before - tf.gather(tf.math.segment_min(before, runs), runs)) % 2 == 0)


def reachable(begins, jumps):
    """Marks the positions on the paths that follow `jumps` from the start positions.

    The jumps double in length each round (pointer jumping), so a path of n jumps takes about log₂ n rounds.

    Args:
        begins: Start positions, bool (positions,).
        jumps: The next position after each position, int32 (positions,). The same position where a path ends.

    Returns:
        bool (positions,).
    """

    def double(visited, jumps, _):
        further = tf.gather(jumps, jumps)
        visited = tf.maximum(visited, tf.math.unsorted_segment_max(visited, jumps, tf.size(jumps)))
        return visited, further, tf.reduce_any(further != jumps)

    state = tf.cast(begins, tf.int32), jumps, tf.constant(True)
    visited, _, _ = tf.while_loop(lambda visited, jumps, more: more, double, state)
    return tf.cast(visited, tf.bool)
