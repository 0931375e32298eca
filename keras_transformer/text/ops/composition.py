"""Unicode's normal form NFC, by the tables of Python's `unicodedata`."""

import functools
import sys
import unicodedata

import tensorflow as tf

from keras_transformer.text.ops.places import marked
from keras_transformer.text.ops.rules import Rules
from keras_transformer.text.ops.trie import NONE, pair, table

BLOCKED = 256  # Above every combining class: nothing composes past it.


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
        rare = tf.reduce_any(self._classes_of(characters) != NONE)
        return tf.cond(rare, lambda: self._compose(texts), lambda: texts)

    def _classes_of(self, characters):
        return self._classes.lookup(tf.cast(characters, tf.int64))

    def _compose(self, texts):
        """Decomposes all characters, sorts the marks behind each by their class, and composes what is together then."""
        texts = tf.strings.unicode_decode(self._decompose(texts), "UTF-8").with_row_splits_dtype(tf.int32)
        rows, classes = texts.value_rowids(), self._classes_of(texts.values)
        first = tf.concat([[True], rows[1:] != rows[:-1]], axis=0)[: tf.size(rows)]
        marks = tf.cumsum(tf.cast(first | (classes <= 0), tf.int32))
        order = tf.argsort(marks * BLOCKED + tf.maximum(classes, 0), stable=True)
        characters, classes = tf.gather(texts.values, order), tf.gather(classes, order)
        characters, kept = self._join(characters, classes, first | (classes == NONE))
        rows = tf.boolean_mask(rows, kept)
        texts = tf.RaggedTensor.from_value_rowids(tf.boolean_mask(characters, kept), rows, texts.nrows())
        return tf.strings.unicode_encode(texts, "UTF-8")

    def _join(self, characters, classes, first):
        """Joins pairs of characters, side by side in all groups: those between which nothing ever composes.

        Args:
            characters: int32 (places,), code points.
            classes: int32 (places,), their combining classes; `NONE` for what never composes with one before it.
            first: bool (places,), where groups begin.

        Returns:
            The characters, and bool (places,), which of them remain.
        """
        begins = tf.cast(tf.where(first)[:, 0], tf.int32)
        lengths = tf.concat([begins[1:], [tf.size(characters)]], axis=0)[: tf.size(begins)] - begins

        def step(n, characters, kept, starters, before):
            within = n < lengths
            here = tf.where(within, begins + n, begins)
            class_, second = tf.gather(classes, here), tf.gather(characters, here)
            joined = self._pairs.lookup(pair(*(tf.cast(x, tf.int64) for x in (tf.gather(characters, starters), second))))
            joins = within & (joined != NONE) & ((before == 0) | (before < class_))
            at = tf.boolean_mask(starters, joins)[:, None]
            characters = tf.tensor_scatter_nd_update(characters, at, tf.boolean_mask(joined, joins))
            kept = kept & ~marked(tf.boolean_mask(here, joins), kept)
            starters = tf.where(within & ~joins & (class_ == 0), here, starters)
            return n + 1, characters, kept, starters, tf.where(within & ~joins, class_, before)

        before = tf.where(tf.gather(classes, begins) > 0, BLOCKED, 0)
        state = 1, characters, tf.ones_like(characters, tf.bool), begins, before
        longest = tf.reduce_max(lengths)
        _, characters, kept, _, _ = tf.while_loop(lambda n, *_: n < longest, step, state)
        return characters, kept


@functools.cache
def unicode_tables():
    """What the normal form needs to know of Unicode.

    Returns:
        Three dictionaries: characters and their full decompositions; pairs of characters and what they compose to; and
        the combining classes of all characters that are not sure to stay what they are in any text, often 0.
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
