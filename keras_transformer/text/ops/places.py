"""The places of many texts behind each other, and the ways from one to another."""

import tensorflow as tf

END = "\0"  # Closes every text, so that nothing that is looked for reaches into the next.


def places(texts):
    """The code points of strings (batch,), each closed by `END`: int32 RaggedTensor (batch, None)."""
    return tf.strings.unicode_decode(tf.strings.join([texts, END]), "UTF-8").with_row_splits_dtype(tf.int32)


def borders(rows):
    """Where the rows of a RaggedTensor, none of them empty, begin and where they end: bool (places,) each."""
    return marked(rows.row_starts(), rows.values), marked(rows.row_limits() - 1, rows.values)


def marked(at, values):
    """Some places, given once each, among those of `values`: bool (places,)."""
    return tf.scatter_nd(at[:, None], tf.ones_like(at), tf.shape(values)) > 0


def every_second(marks):
    """Of marks that stand side by side, bool (places,), the first, the third and so on."""
    numbers = tf.cast(marks, tf.int32)
    before, runs = tf.cumsum(numbers, exclusive=True), tf.cumsum(1 - numbers)
    return marks & ((before - tf.gather(tf.math.segment_min(before, runs), runs)) % 2 == 0)


def passed(begins, jumps):
    """The places that one comes through who jumps on and on.

    The jumps double their length from round to round, so that a way of n jumps takes about log₂ n rounds.

    Args:
        begins: bool (places,), where one begins.
        jumps: int32 (places,), the place to which one jumps from each; the same where a way ends.

    Returns:
        bool (places,).
    """

    def double(seen, jumps, _):
        further = tf.gather(jumps, jumps)
        seen = tf.maximum(seen, tf.math.unsorted_segment_max(seen, jumps, tf.size(jumps)))
        return seen, further, tf.reduce_any(further != jumps)

    state = tf.cast(begins, tf.int32), jumps, tf.constant(True)
    seen, _, _ = tf.while_loop(lambda seen, jumps, more: more, double, state)
    return tf.cast(seen, tf.bool)
