"""Unicode's normal form NFC, by the tables of Python's `unicodedata`."""

import functools
import sys
import unicodedata

import tensorflow as tf

from keras_transformer.text.ops.places import marked
from keras_transformer.text.ops.rules import Rules
from keras_transformer.text.ops.trie import NONE, pair, table

CLASSES = 256  # Combining classes are below it.


class Composition(tf.Module):
    """Composes characters as `unicodedata.normalize("NFC", text)` does."""

    def __init__(self):
        super().__init__()
        decompositions, pairs, classes = unicode_tables()
        self._decompose = Rules(decompositions)
        self._pairs = table({pair(*map(ord, two)): ord(one) for two, one in pairs.items()}, NONE)
        self._classes = table({ord(character): number for character, number in classes.items()}, NONE)

    def __call__(self, texts):
        """Strings (batch,) in NFC; bytes that are no UTF-8 become U+FFFD."""
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
        characters = tf.strings.unicode_decode(texts, "UTF-8").values
        may_change = tf.reduce_any(self._class_of(characters) != NONE)
        return tf.cond(may_change, lambda: self._compose(texts), lambda: texts)

    def _class_of(self, characters):
        return self._classes.lookup(tf.cast(characters, tf.int64))

    def _compose(self, texts):
        """Decomposes all characters, sorts the marks behind each by class, and joins what belongs together then."""
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
        """Joins pairs of characters, in all groups side by side: two of different groups never compose.

        Args:
            characters: int32 (places,), code points.
            classes: int32 (places,), their combining classes.
            begins: bool (places,), where groups begin.

        Returns:
            The characters, and bool (places,), which of them remain.
        """
        begins = tf.cast(tf.where(begins)[:, 0], tf.int32)
        lengths = tf.concat([begins[1:], tf.shape(characters)], axis=0) - begins

        def step(n, characters, kept, starters, before):
            """Joins character n of each group to its last starter, unless one `before` it stands in the way."""
            inside = n < lengths
            here = tf.where(inside, begins + n, begins)
            own, parts = tf.gather(classes, here), (tf.gather(characters, x) for x in (starters, here))
            joined = self._pairs.lookup(pair(*(tf.cast(part, tf.int64) for part in parts)))
            joins = inside & (joined != NONE) & ((before == 0) | (before < own))
            at = tf.boolean_mask(starters, joins)
            characters = tf.tensor_scatter_nd_update(characters, at[:, None], tf.boolean_mask(joined, joins))
            kept &= ~marked(tf.boolean_mask(here, joins), kept)
            stays = inside & ~joins
            return n + 1, characters, kept, tf.where(stays & (own == 0), here, starters), tf.where(stays, own, before)

        # A group may begin with a mark, as a text may: no pair of Unicode does, so that nothing joins it.
        state = 1, characters, tf.ones_like(characters, tf.bool), begins, tf.zeros_like(begins)
        longest = tf.reduce_max(lengths)
        _, characters, kept, _, _ = tf.while_loop(lambda n, *_: n < longest, step, state)
        return characters, kept


@functools.cache
def unicode_tables():
    """What the normal form needs to know of Unicode.

    Returns:
        Three dictionaries: characters and their full decompositions; pairs of characters and what they compose to; and
        the combining classes, often 0, of the characters that may change beside others or by themselves.
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
