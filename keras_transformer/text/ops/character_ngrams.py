"""The n-grams of `text.character_ngrams`, hashed as scikit-learn's `HashingVectorizer` hashes them."""

import functools
import sys

import tensorflow as tf

from keras_transformer.text.character_ngrams import FIRST_SYLLABLE, LETTERS
from keras_transformer.text.ops.trie import NONE, table

CAPITAL_I = "\u0130"  # The one character whose small form is two.
FINAL_SIGMA = "([\\p{Lu}\\p{Ll}]\\pM*)\u03a3(\\PL|$)"  # At the end of a word, another small letter.
BYTES = 12  # In UTF-8, at most: of four letters before the first syllable, or of two other characters.
LETTER = f"[\\x00-\\x{{{ord(FIRST_SYLLABLE) - 1:x}}}]"
WITHIN = f"[\\x00-\\x1f\\x21-\\x{{{ord(FIRST_SYLLABLE) - 1:x}}}]"  # A letter that is no space.
OTHER = f"[\\x{{{ord(FIRST_SYLLABLE):x}}}-\\x{{10ffff}}]"
LETTERS_ONLY = f"{LETTER}{WITHIN}{{1,2}}{LETTER}|{LETTER}{WITHIN}|{WITHIN}{LETTER}"
KEPT = f"{LETTERS_ONLY}|{LETTER}?{OTHER}|{OTHER}{LETTER}|{OTHER}{{2}}"
"""N-grams that are counted: two to four letters without a space between them, or one or two characters of which one is
a syllable or an ideograph."""


class CharacterNgrams(tf.Module):
    """The columns that `HashingVectorizer(analyzer=character_ngrams)` counts n-grams in.

    Args:
        features: Columns, a power of two.
    """

    def __init__(self, features):
        super().__init__()
        self._features = features
        self._small = table(small_letters(), NONE)

    def __call__(self, texts):
        """The columns of all n-grams, int32 RaggedTensor (batch, None), of strings (batch,), normalized."""
        # The space behind a word is that before the next one.
        characters = self._lower(tf.strings.join([" ", texts, " "]))
        ngrams = tf.strings.ngrams(characters, tuple(range(1, LETTERS.stop)), separator="")
        ngrams = tf.ragged.boolean_mask(ngrams, tf.strings.regex_full_match(ngrams, KEPT))
        return ngrams.with_values(columns_of(ngrams.values, self._features))

    def _lower(self, texts):
        """The characters of texts in small letters, as `str.lower` has them: string RaggedTensor (batch, None)."""
        texts = tf.strings.regex_replace(texts, CAPITAL_I, CAPITAL_I.lower())
        texts = tf.strings.regex_replace(texts, FINAL_SIGMA, "\\1\u03c2\\2")
        characters = tf.strings.unicode_decode(texts, "UTF-8")
        small = self._small.lookup(tf.cast(characters.values, tf.int64))
        small = tf.where(small == NONE, characters.values, small)
        return characters.with_values(tf.strings.unicode_encode(small[:, None], "UTF-8"))


@functools.cache
def small_letters():
    """A dictionary of the code points that have one small letter, and those of these."""
    pairs = ((code, chr(code).lower()) for code in range(sys.maxunicode + 1))
    return {code: ord(small) for code, small in pairs if small != chr(code) and len(small) == 1}


def columns_of(strings, features):
    """The columns in which scikit-learn counts strings of `BYTES` bytes at most, (strings,): int32 (strings,)."""
    hashed = tf.bitcast(murmur_hash(strings), tf.int32)
    # Its absolute value; that of the lowest integer has no more bits set either.
    return tf.bitwise.bitwise_and(tf.abs(hashed), features - 1)


def murmur_hash(strings):
    """MurmurHash3 (x86, 32 bits, seed 0) of strings of `BYTES` bytes at most, (strings,): uint32 (strings,)."""
    lengths = tf.cast(tf.strings.length(strings), tf.uint32)
    words = tf.bitcast(tf.io.decode_raw(strings, tf.int32, fixed_length=BYTES), tf.uint32)
    hashed = tf.zeros_like(lengths)
    for end, word in enumerate(tf.unstack(words, axis=1), 1):
        # Of a word that is not whole, the bytes beyond the string's end are zeros, which change nothing.
        hashed = tf.bitwise.bitwise_xor(hashed, rotated(word * unsigned(0xCC9E2D51), 15) * unsigned(0x1B873593))
        whole = rotated(hashed, 13) * unsigned(5) + unsigned(0xE6546B64)
        hashed = tf.where(tf.cast(lengths, tf.int32) >= 4 * end, whole, hashed)
    hashed = tf.bitwise.bitwise_xor(hashed, lengths)
    hashed = folded(hashed, 16) * unsigned(0x85EBCA6B)
    hashed = folded(hashed, 13) * unsigned(0xC2B2AE35)
    return folded(hashed, 16)


def rotated(numbers, bits):
    """Unsigned integers whose bits are moved to the left, and those that leave come in again on the right."""
    left = tf.bitwise.left_shift(numbers, unsigned(bits))
    return tf.bitwise.bitwise_or(left, tf.bitwise.right_shift(numbers, unsigned(32 - bits)))


def folded(numbers, bits):
    """Unsigned integers with their upper bits added to the lower ones."""
    return tf.bitwise.bitwise_xor(numbers, tf.bitwise.right_shift(numbers, unsigned(bits)))


def unsigned(number):
    """A number as a constant of 32 bits."""
    return tf.constant(number, tf.uint32)
