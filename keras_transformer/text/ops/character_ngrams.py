"""The n-grams of `text.character_ngrams` in a graph, hashed like scikit-learn's `HashingVectorizer`."""

import functools
import sys

import tensorflow as tf

from keras_transformer.text.character_ngrams import FIRST_SYLLABLE, LETTERS, MOOD
from keras_transformer.text.ops.trie import NONE, table

CAPITAL_I = "\u0130"  # The only character whose lowercase form has two characters.
FINAL_SIGMA = "([\\p{Lu}\\p{Ll}]\\pM*)\u03a3(\\PL|$)"  # Has a different lowercase form at the end of a word.
BYTES = 12  # Maximum UTF-8 length of an n-gram: four letters below `FIRST_SYLLABLE`, or two other characters.
LETTER = f"[\\x00-\\x{{{ord(FIRST_SYLLABLE) - 1:x}}}]"
WITHIN = f"[\\x00-\\x1f\\x21-\\x{{{ord(FIRST_SYLLABLE) - 1:x}}}]"  # A letter other than a space.
OTHER = f"[\\x{{{ord(FIRST_SYLLABLE):x}}}-\\x{{10ffff}}]"
LETTERS_ONLY = f"{LETTER}{WITHIN}{{1,2}}{LETTER}|{LETTER}{WITHIN}|{WITHIN}{LETTER}"
COUNTED = f"{LETTERS_ONLY}|{LETTER}?{OTHER}|{OTHER}{LETTER}|{OTHER}{{2}}"
"""N-grams to count: two to four letters without a space in between, or one or two characters of which at least one is a
syllable or an ideograph."""


class CharacterNgrams(tf.Module):
    """Computes the columns in which `HashingVectorizer(analyzer=character_ngrams)` counts n-grams.

    Args:
        features: Number of columns, a power of two.
    """

    def __init__(self, features):
        super().__init__()
        self._features = features
        self._small = table(small_letters(), NONE)

    def __call__(self, texts):
        """Maps normalized strings (batch,) to the columns of all their n-grams, int32 RaggedTensor (batch, None)."""
        # The space after a word is also the one before the next word.
        characters = self._lower(tf.strings.join([" ", without_mood(texts), " "]))
        ngrams = tf.strings.ngrams(characters, tuple(range(1, LETTERS.stop)), separator="")
        ngrams = tf.ragged.boolean_mask(ngrams, tf.strings.regex_full_match(ngrams, COUNTED))
        return ngrams.with_values(columns_of(ngrams.values, self._features))

    def _lower(self, texts):
        """Splits texts into lowercase characters, as by `str.lower`: string RaggedTensor (batch, None)."""
        texts = tf.strings.regex_replace(texts, CAPITAL_I, CAPITAL_I.lower())
        texts = tf.strings.regex_replace(texts, FINAL_SIGMA, "\\1\u03c2\\2")
        characters = tf.strings.unicode_decode(texts, "UTF-8")
        small = self._small.lookup(tf.cast(characters.values, tf.int64))
        small = tf.where(small == NONE, characters.values, small)
        return characters.with_values(tf.strings.unicode_encode(small[:, None], "UTF-8"))


def without_mood(texts):
    """Removes the characters of `MOOD` from strings (batch,) that have others."""
    others = tf.strings.regex_replace(texts, f"[{MOOD}]", "")
    return tf.where(tf.strings.regex_full_match(others, " *"), texts, others)


@functools.cache
def small_letters():
    """Returns a dictionary from code points to their lowercase code points, where these are single characters."""
    pairs = ((code, chr(code).lower()) for code in range(sys.maxunicode + 1))
    return {code: ord(small) for code, small in pairs if small != chr(code) and len(small) == 1}


def columns_of(strings, features):
    """Returns the columns in which scikit-learn counts strings (n,) of at most `BYTES` bytes: int32 (n,)."""
    hashed = tf.bitcast(murmur_hash(strings), tf.int32)
    # scikit-learn takes the absolute value. That of the lowest integer overflows, but its lower bits are 0 either way.
    return tf.bitwise.bitwise_and(tf.abs(hashed), features - 1)


def murmur_hash(strings):
    """Returns MurmurHash3 (x86, 32 bits, seed 0) of strings (n,) of at most `BYTES` bytes: uint32 (n,)."""
    lengths = tf.cast(tf.strings.length(strings), tf.uint32)
    words = tf.bitcast(tf.io.decode_raw(strings, tf.int32, fixed_length=BYTES), tf.uint32)
    hashed = tf.zeros_like(lengths)
    for end, word in enumerate(tf.unstack(words, axis=1), 1):
        # In a partial word, the bytes beyond the end of the string are zeros, which do not change the hash.
        hashed = tf.bitwise.bitwise_xor(hashed, rotated(word * unsigned(0xCC9E2D51), 15) * unsigned(0x1B873593))
        whole = rotated(hashed, 13) * unsigned(5) + unsigned(0xE6546B64)
        hashed = tf.where(tf.cast(lengths, tf.int32) >= 4 * end, whole, hashed)
    hashed = tf.bitwise.bitwise_xor(hashed, lengths)
    hashed = folded(hashed, 16) * unsigned(0x85EBCA6B)
    hashed = folded(hashed, 13) * unsigned(0xC2B2AE35)
    return folded(hashed, 16)


def rotated(numbers, bits):
    """Rotates the bits of unsigned integers to the left."""
    left = tf.bitwise.left_shift(numbers, unsigned(bits))
    return tf.bitwise.bitwise_or(left, tf.bitwise.right_shift(numbers, unsigned(32 - bits)))


def folded(numbers, bits):
    """XORs the upper bits of unsigned integers into the lower ones."""
    return tf.bitwise.bitwise_xor(numbers, tf.bitwise.right_shift(numbers, unsigned(bits)))


def unsigned(number):
    """Returns a number as a uint32 constant."""
    return tf.constant(number, tf.uint32)
