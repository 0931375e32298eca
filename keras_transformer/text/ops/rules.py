"""String replacement rules of a SentencePiece model."""

import numpy as np
import tensorflow as tf

from keras_transformer.text.ops.positions import code_points, reachable, row_ends
from keras_transformer.text.ops.trie import NONE, Trie

BYTES = np.arange(1, 256, dtype="uint32")
LABEL, VALUE, HAS_VALUE, FAR = 0x800000FF, 0x7FFFFFFF, 1 << 8, 1 << 9  # Bit masks of a unit.


class Rules(tf.Module):
    """Replaces strings in texts from left to right. The longest match wins.

    Args:
        rules: A nonempty dictionary from strings to their replacements.
    """

    def __init__(self, rules):
        super().__init__()
        self._strings = Trie({string: i for i, string in enumerate(rules)})
        self._replacements = tf.constant(list(rules.values()))

    def __call__(self, texts):
        """Applies the rules to strings (batch,) of valid UTF-8."""
        characters = code_points(texts)
        matches = self._strings.find(characters.values)
        lengths = tf.reduce_max(tf.where(matches == NONE, 0, tf.range(1, self._strings.longest + 1)), axis=1)
        begins, ends = row_ends(characters)
        positions = tf.range(tf.size(lengths))
        kept = reachable(begins, tf.where(ends, positions, positions + tf.maximum(lengths, 1))) & ~ends
        rows = tf.boolean_mask(characters.value_rowids(), kept)
        matches, lengths, same = (tf.boolean_mask(x, kept) for x in (matches, lengths, characters.values))
        rules = tf.gather(matches, tf.maximum(lengths - 1, 0), batch_dims=1)
        replacements = tf.gather(self._replacements, tf.maximum(rules, 0))
        strings = tf.where(rules == NONE, tf.strings.unicode_encode(same[:, None], "UTF-8"), replacements)
        return tf.strings.unsorted_segment_join(strings, rows, characters.nrows())


def read_rules(charsmap):
    """Parses the `precompiled_charsmap` of a SentencePiece model, bytes, into a dictionary of rules (may be empty).

    The format is the size in bytes of a double array (Darts-clone), the array, and the replacements, each terminated by
    a zero byte. The array is a UTF-8 trie whose nodes are 32-bit units. Each unit holds the offset of its children and
    the label (byte) of the edge that leads to it.
    """
    if not charsmap:
        return {}
    size = int.from_bytes(charsmap[:4], "little")
    units, replacements = np.frombuffer(charsmap, "<u4", size // 4, offset=4), charsmap[4 + size :]
    labels = units & np.uint32(LABEL)
    rules, waiting = {}, [(0, b"")]
    while waiting:
        node, string = waiting.pop()
        unit = int(units[node])
        children = node ^ (unit >> 10 << (8 if unit & FAR else 0))
        if unit & HAS_VALUE:
            start = int(units[children]) & VALUE
            rules[string.decode()] = replacements[start : replacements.index(0, start)].decode()
        reached = BYTES[labels[children ^ BYTES] == BYTES]
        waiting += [(children ^ int(byte), string + bytes([byte])) for byte in reached]
    return rules
