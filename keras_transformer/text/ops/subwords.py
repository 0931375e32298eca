"""`SubwordTextEncoder` (tensorflow-datasets) as operations: words to their longest pieces, the rest to bytes."""

import sys

import tensorflow as tf

from keras_transformer.text.ops.positions import code_points, reachable, row_ends
from keras_transformer.text.ops.trie import NONE, Trie
from keras_transformer.text.ops.unknown import UnknownAsBytes
from keras_transformer.text.subwords import ESCAPED

BYTES = 256
SPACE = "_"  # Ends a piece that is followed by a space.
UNDERSCORE = "\ud800"  # Stands for an underscore of a text: half a character, which no text contains.
REPLACEMENT = 0xFFFD  # Replaces bytes that form no character.


class SubwordSegmentation(tf.Module):
    """Segments texts as `SubwordTextEncoder.encode` does.

    A text is split where letters and digits meet other characters. A single space between two words ends the first one.
    Each word is split into the longest pieces, from left to right.

    Args:
        subwords: The pieces, a list of strings. Their ids count from 1.
    """

    def __init__(self, subwords):
        super().__init__()
        self._pieces = Trie({piece.replace(ESCAPED, UNDERSCORE): i for i, piece in enumerate(subwords, 1)})
        self._size = 1 + len(subwords) + BYTES
        self._spell = UnknownAsBytes(self._size, range(1 + len(subwords), self._size))
        self._changes = tf.constant(word_changes(), tf.int32)

    def __call__(self, texts):
        """Returns the ids of strings (batch,), an int32 RaggedTensor (batch, None)."""
        characters = code_points(texts)
        begins, ends = row_ends(characters)
        begins_word, ends_with_space = self._words(characters.values, begins, ends)
        shown = tf.where(characters.values == ord("_"), ord(UNDERSCORE), characters.values)
        matches = self._pieces.find(tf.where(ends_with_space, ord(SPACE), shown))
        positions, columns = tf.range(tf.size(shown)), tf.range(1, self._pieces.longest + 1)
        next_words = tf.concat([tf.cast(tf.where(begins_word)[:, 0], tf.int32), [tf.size(shown)]], axis=0)
        room = tf.gather(next_words, tf.cumsum(tf.cast(begins_word, tf.int32))) - positions
        lengths = tf.where((matches != NONE) & (columns <= room[:, None]), columns, 0)
        lengths = tf.reduce_max(lengths, axis=1)
        kept = reachable(begins, tf.where(ends, positions, positions + tf.maximum(lengths, 1))) & ~ends
        ids = tf.gather(matches, tf.maximum(lengths - 1, 0), batch_dims=1)
        ids = tf.where(lengths == 0, self._size + characters.values, ids)
        ids, rows = (tf.boolean_mask(x, kept) for x in (ids, characters.value_rowids()))
        return self._spell(tf.RaggedTensor.from_value_rowids(ids, rows, characters.nrows()))

    def _words(self, characters, begins, ends):
        """Marks the beginnings of words, and the spaces that end a word: two bool (positions,)."""
        in_word = (tf.searchsorted(self._changes, characters, side="right") % 2 == 1) & ~ends
        after_word = tf.concat([[False], in_word[:-1]], axis=0) & ~begins
        before_other = tf.concat([in_word[1:] | ends[1:], [False]], axis=0)
        ends_with_space = (characters == ord(" ")) & after_word & before_other
        return (begins | ends | (in_word != after_word)) & ~ends_with_space, ends_with_space


class SubwordDetokenizer(tf.Module):
    """Joins pieces as `SubwordTextEncoder.decode` does.

    Args:
        subwords: The pieces, a list of strings. Their ids count from 1.
        specials: Number of ids after those of the bytes.
    """

    def __init__(self, subwords, specials):
        super().__init__()
        pieces = [piece.removesuffix(SPACE) + " " * piece.endswith(SPACE) for piece in subwords]
        bytes_ = [bytes([byte]) for byte in range(BYTES)]
        self._surfaces = tf.constant([b"", *(piece.encode() for piece in pieces), *bytes_, *[b""] * specials])

    def __call__(self, ids):
        """Decodes an int32 RaggedTensor (batch, None) into strings (batch,)."""
        strings = tf.gather(self._surfaces, ids.values)
        texts = tf.strings.unsorted_segment_join(strings, ids.value_rowids(), ids.nrows())
        return tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", replacement_char=REPLACEMENT)


def word_changes():
    """Returns the code points from which on characters are letters or digits, or no longer are, in turn.

    Python's regular expressions treat the underscore as one of them.
    """
    are = [chr(code).isalnum() or chr(code) == "_" for code in range(sys.maxunicode + 1)]
    return [code for code in range(1, len(are)) if are[code] != are[code - 1]]
