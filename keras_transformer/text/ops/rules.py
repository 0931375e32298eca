"""Strings that stand for others, as SentencePiece models carry them."""

import numpy as np
import tensorflow as tf

from keras_transformer.text.ops.places import borders, passed, places
from keras_transformer.text.ops.trie import NONE, Trie

BYTES = np.arange(1, 256, dtype="uint32")
LEAF, LABEL, VALUE = 1 << 8, np.uint32(0x800000FF), 0x7FFFFFFF  # Bits of a unit.


class Rules(tf.Module):
    """Replaces strings in texts, from left to right, at each place the longest.

    Args:
        rules: A dictionary of strings and their replacements, not empty.
    """

    def __init__(self, rules):
        super().__init__()
        self._strings = Trie({string: i for i, string in enumerate(rules)})
        self._replacements = tf.constant(list(rules.values()))

    def __call__(self, texts):
        """Strings (batch,), valid UTF-8, with the replacements."""
        characters = places(texts)
        found = self._strings.find(characters.values)
        lengths = tf.reduce_max(tf.where(found == NONE, 0, tf.range(1, self._strings.longest + 1)), axis=1)
        begins, ends = borders(characters)
        here = tf.range(tf.size(lengths))
        kept = passed(begins, tf.where(ends, here, here + tf.maximum(lengths, 1))) & ~ends
        found, lengths, unchanged = (tf.boolean_mask(x, kept) for x in (found, lengths, characters.values))
        rule = tf.gather(found, tf.maximum(lengths - 1, 0), batch_dims=1)
        unchanged = tf.strings.unicode_encode(unchanged[:, None], "UTF-8")
        strings = tf.where(rule == NONE, unchanged, tf.gather(self._replacements, tf.maximum(rule, 0)))
        rows = tf.boolean_mask(characters.value_rowids(), kept)
        return tf.strings.unsorted_segment_join(strings, rows, characters.nrows())


def read_rules(charsmap):
    """The rules of a SentencePiece model's `precompiled_charsmap`: a dictionary, empty if there are none.

    It is a double array (Darts-clone), its size in bytes before it, and the replacements after it, each closed by a
    zero byte. In the array every unit of 32 bits is a node, and says where its children are and by which byte they
    are reached.
    """
    if not charsmap:
        return {}
    size = int.from_bytes(charsmap[:4], "little")
    units = np.frombuffer(charsmap, "<u4", size // 4, offset=4)
    labels, replacements = units & LABEL, charsmap[4 + size :]
    rules, waiting = {}, [(0, b"")]
    while waiting:
        node, string = waiting.pop()
        unit = int(units[node])
        children = node ^ (unit >> 10 << ((unit & 1 << 9) >> 6))
        if unit & LEAF:
            start = int(units[children]) & VALUE
            rules[string.decode()] = replacements[start : replacements.index(0, start)].decode()
        found = BYTES[labels[children ^ BYTES] == BYTES]
        waiting += [(int(children ^ byte), string + bytes([byte])) for byte in found]
    return rules
