"""The places of many texts behind each other in one row, and the ways from one to another."""

import tensorflow as tf

END = "\0"  # Closes every text, so that nothing that has none in it reaches across two texts.


def places(texts):
    """The code points of strings (batch,), each text closed by `END`: int32 RaggedTensor (batch, None)."""
    return tf.strings.unicode_decode(tf.strings.join([texts, END]), "UTF-8").with_row_splits_dtype(tf.int32)


def borders(rows):
    """Where the rows of a RaggedTensor begin and where they end, none being empty: bool (places,) each."""
    return marked(rows.row_starts(), rows.values), marked(rows.row_limits() - 1, rows.values)


def marked(at, values):
    """True at some places, each given once, among those of `values`."""
    return tf.scatter_nd(at[:, None], tf.ones_like(at), tf.shape(values)) > 0


def passed(begins, jumps):
    """The places that one comes through who goes on from jump to jump.

    The jumps double their length from round to round: a way of n places takes about log₂ n rounds.

    Args:
        begins: bool (places,), where one begins.
        jumps: int32 (places,), where one goes from there; to the same place where a way ends.

    Returns:
        bool (places,).
    """

    def double(seen, jumps, _):
        further = tf.gather(jumps, jumps)
        seen = tf.maximum(seen, tf.math.unsorted_segment_max(seen, jumps, tf.size(jumps)))
        return seen, further, tf.reduce_any(further != jumps)

    start = (tf.cast(begins, tf.int32), jumps, tf.constant(True))
    seen, _, _ = tf.while_loop(lambda seen, jumps, more: more, double, start)
    return tf.cast(seen, tf.bool)
