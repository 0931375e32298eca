"""Positions in concatenated texts, and paths between them."""

import tensorflow as tf

END = "\0"  # Terminates every text, so that no match extends into the next one.


def places(texts):
    """Returns the code points of strings (batch,), each terminated by `END`: int32 RaggedTensor (batch, None)."""
    return tf.strings.unicode_decode(tf.strings.join([texts, END]), "UTF-8").with_row_splits_dtype(tf.int32)


def borders(rows):
    """Marks the first and the last place of each row of a RaggedTensor without empty rows: bool (places,) each."""
    return marked(rows.row_starts(), rows.values), marked(rows.row_limits() - 1, rows.values)


def marked(at, values):
    """Marks the given distinct places among those of `values`: bool (places,)."""
    return tf.scatter_nd(at[:, None], tf.ones_like(at), tf.shape(values)) > 0


def every_second(marks):
    """Keeps the first, third, fifth, … mark of each run of adjacent marks, bool (places,)."""
    numbers = tf.cast(marks, tf.int32)
    before, runs = tf.cumsum(numbers, exclusive=True), tf.cumsum(1 - numbers)
    return marks & ((before - tf.gather(tf.math.segment_min(before, runs), runs)) % 2 == 0)


def passed(begins, jumps):
    """Marks the places on the paths that follow `jumps` from the start places.

    The jumps double in length each round (pointer jumping), so a path of n jumps takes about log₂ n rounds.

    Args:
        begins: Start places, bool (places,).
        jumps: The next place after each place, int32 (places,). The same place where a path ends.

    Returns:
        bool (places,).
    """

    def double(visited, jumps, _):
        further = tf.gather(jumps, jumps)
        visited = tf.maximum(visited, tf.math.unsorted_segment_max(visited, jumps, tf.size(jumps)))
        return visited, further, tf.reduce_any(further != jumps)

    state = tf.cast(begins, tf.int32), jumps, tf.constant(True)
    visited, _, _ = tf.while_loop(lambda visited, jumps, more: more, double, state)
    return tf.cast(visited, tf.bool)
