"""Counts of character n-grams, hashed like scikit-learn's `HashingVectorizer`.

Importing scikit-learn takes longer than everything else that retrieving an answer needs.
"""

import array

import numpy as np
from scipy import sparse

from keras_transformer.text.character_ngrams import ngrams_of_word, padded_words


def count_ngrams(texts, features):
    """Counts the n-grams of texts, each word once for all texts that contain it.

    Args:
        texts: Normalized texts (see `normalize`), an iterable.
        features: Number of columns, a power of two.

    Returns:
        Sparse float32 (texts, features), with the column indices of each row in ascending order.
    """
    numbers = {}  # Of the different words.
    words, ends = array.array("i"), array.array("i", [0])
    for text in texts:
        words.extend(numbers.setdefault(word, len(numbers)) for word in padded_words(text))
        ends.append(len(words))
    counts = counted(words, ends, len(numbers)) @ counted(*ngram_columns(numbers, features), features)
    counts.sort_indices()
    return counts


def counted(columns, ends, width):
    """Returns the number of occurrences of each column in rows of columns, sparse float32 (rows, width)."""
    return sparse.csr_matrix((np.ones(len(columns), "float32"), columns, ends), (len(ends) - 1, width))


def ngram_columns(words, features):
    """Returns the columns of the n-grams of padded words, and where they start for each word, followed by the end."""
    numbers = {}  # Of the different n-grams.
    ngrams, ends = array.array("i"), array.array("i", [0])
    for word in words:
        ngrams.extend(numbers.setdefault(ngram, len(numbers)) for ngram in ngrams_of_word(word))
        ends.append(len(ngrams))
    return columns_of(numbers, features)[ngrams], ends


def columns_of(ngrams, features):
    """Returns the columns of n-grams, int32 (ngrams,): the absolute values of their signed hashes."""
    hashed = murmur_hash([ngram.encode("utf-8") for ngram in ngrams])
    return (np.minimum(hashed, -hashed) % np.uint32(features)).astype("int32")


def murmur_hash(strings):
    """Returns MurmurHash3 (x86, 32 bits, seed 0) of byte strings, uint32 (strings,)."""
    lengths = np.fromiter(map(len, strings), "uint32")
    width = 4 * (1 + int(lengths.max(initial=0)) // 4)
    blocks = np.array(strings, f"S{width}").view("<u4").reshape(len(strings), width // 4)
    hashed = np.zeros_like(lengths)
    for end, block in enumerate(blocks.T, 1):
        # In a partial block, the bytes beyond the end of the string are zeros, which do not change the hash.
        hashed ^= rotated(block * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        whole = rotated(hashed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
        hashed = np.where(lengths >= 4 * end, whole, hashed)
    hashed ^= lengths
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashed = (hashed ^ hashed >> shift) * np.uint32(factor)
    return hashed ^ hashed >> 16


def rotated(numbers, bits):
    """Rotates the bits of unsigned 32-bit integers to the left."""
    return numbers << bits | numbers >> 32 - bits
