"""Unicode normalization form NFC in a graph, with tables built from Python's `unicodedata`."""

import functools
import sys
import unicodedata

import tensorflow as tf

from keras_transformer.text.ops.positions import mask_of
from keras_transformer.text.ops.rules import Rules
from keras_transformer.text.ops.trie import NONE, pair, table

CLASSES = 256  # Upper limit of the combining classes, exclusive.


class Composition(tf.Module):
    """Composes characters as `unicodedata.normalize("NFC", text)` does."""

    def __init__(self):
        super().__init__()
        decompositions, pairs, classes = unicode_tables()
        self._decompose = Rules(decompositions)
        self._pairs = table({pair(*map(ord, two)): ord(one) for two, one in pairs.items()}, NONE)
        self._classes = table({ord(character): number for character, number in classes.items()}, NONE)

    def __call__(self, texts):
        """Converts strings (batch,) to NFC. Invalid UTF-8 bytes become U+FFFD."""
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
        characters = tf.strings.unicode_decode(texts, "UTF-8").values
        may_change = tf.reduce_any(self._class_of(characters) != NONE)
        return tf.cond(may_change, lambda: self._compose(texts), lambda: texts)

    def _class_of(self, characters):
        return self._classes.lookup(tf.cast(characters, tf.int64))

    def _compose(self, texts):
        """Decomposes all characters, sorts the marks after each base by combining class, and composes the pairs."""
        texts = tf.strings.unicode_decode(self._decompose(texts), "UTF-8").with_row_splits_dtype(tf.int32)
        rows, classes = texts.value_rowids(), self._class_of(texts.values)
        first = tf.concat([tf.ones_like(rows[:1], tf.bool), rows[1:] != rows[:-1]], axis=0)
        bases = tf.cumsum(tf.cast(first | (classes <= 0), tf.int32))
        order = tf.argsort(bases * CLASSES + tf.maximum(classes, 0), stable=True)
        characters, classes = tf.gather(texts.values, order), tf.gather(classes, order)
        characters, kept = self._join(characters, classes, first | (classes == NONE))
        characters, rows = tf.boolean_mask(characters, kept), tf.boolean_mask(rows, kept)
        return tf.strings.unicode_encode(tf.RaggedTensor.from_value_rowids(characters, rows, texts.nrows()), "UTF-8")

    def _join(self, characters, classes, begins):
        """Composes pairs of characters, in all groups in parallel. Characters of different groups never compose.

        Args:
            characters: Code points, int32 (positions,).
            classes: Their combining classes, int32 (positions,).
            begins: Where groups begin, bool (positions,).

        Returns:
            A tuple of the new code points and a mask of those to keep, bool (positions,).
        """
        begins = tf.cast(tf.where(begins)[:, 0], tf.int32)
        lengths = tf.concat([begins[1:], tf.shape(characters)], axis=0) - begins

        def step(n, characters, kept, starters, before):
            """Joins character n of each group to its last starter, unless the class `before` it blocks this."""
            inside = n < lengths
            current = tf.where(inside, begins + n, begins)
            own_class, two = tf.gather(classes, current), (tf.gather(characters, x) for x in (starters, current))
            joined = self._pairs.lookup(pair(*(tf.cast(one, tf.int64) for one in two)))
            joins = inside & (joined != NONE) & ((before == 0) | (before < own_class))
            at = tf.boolean_mask(starters, joins)
            characters = tf.tensor_scatter_nd_update(characters, at[:, None], tf.boolean_mask(joined, joins))
            kept &= ~mask_of(tf.boolean_mask(current, joins), kept)
            stays = inside & ~joins
            starters = tf.where(stays & (own_class == 0), current, starters)
            return n + 1, characters, kept, starters, tf.where(stays, own_class, before)

        # A group may begin with a mark, like a text. No Unicode pair begins with one, so nothing joins it.
        state = 1, characters, tf.ones_like(characters, tf.bool), begins, tf.zeros_like(begins)
        longest = tf.reduce_max(lengths)
        _, characters, kept, _, _ = tf.while_loop(lambda n, *_: n < longest, step, state)
        return characters, kept


@functools.cache
def unicode_tables():
    """Returns the Unicode tables for NFC.

    Returns:
        Three dictionaries: from characters to their full decompositions, from pairs of characters to their
        compositions, and from characters that may change, alone or next to others, to their combining classes (may be
        0).
    """
    decompositions, pairs, classes = {}, {}, {}
    for character in map(chr, range(sys.maxunicode + 1)):
        if combining := unicodedata.combining(character):
            classes[character] = combining
        decomposed = unicodedata.normalize("NFD", character)
        if decomposed == character:
            continue
        decompositions[character] = decomposed
        if unicodedata.normalize("NFC", character) == character:
            pairs[unicodedata.normalize("NFC", decomposed[:-1]), decomposed[-1]] = character
            classes.setdefault(decomposed[-1], 0)
        else:
            classes.setdefault(character, 0)
    return decompositions, pairs, classes
