"""Retrieves the nearest known question and its answer from the files in this folder.

    exchanges.jsonl   known questions and their answers, one per line, numbered from 0
    retrieval.npz     the index

The similarity is a weighted mean of two cosine similarities: of TF-IDF vectors of character n-grams, and of embeddings
learned from the known questions and answers. An embedding is the sum of the vectors of a question's n-grams, weighted
by TF-IDF and normalized to unit length. Its cosine similarity is multiplied by the share of the question's n-grams that
have a vector. The arrays of retrieval.npz, which contain the weights of the mean:

    columns     n-grams of known questions and their paraphrases, numbered by `column_of`, int32 (ngrams,), ascending
    idf         IDF weights of these n-grams, followed by that of any other n-gram, float32 (ngrams + 1,)
    starts      start of each n-gram's entries in the next two arrays, then that of any other n-gram, which has none,
                and the end, int32 (ngrams + 2,)
    questions   numbers of the questions that contain the n-gram, int32 (places,)
    weights     weight of the n-gram in their TF-IDF vectors, times that of n-grams in the mean, float32 (places,)
    vectors     embedding vectors of the n-grams, followed by zeros for any other: float16 (ngrams + 1, dimensions)
    embedded    embeddings of the known questions, times their weight in the mean, float16 (questions, dimensions).
                With 0 dimensions, only n-grams are compared

Only NumPy is needed. The code can be ported to other languages.
"""

import collections
import json
import re
import unicodedata

import numpy as np

SPACES = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
DECIMALS = 5  # Similarities are compared by these decimals: the last bits of a sum differ between processors.
LETTERS = range(2, 5)  # Lengths of n-grams of letters only, such as " ta" and "cat".
SYLLABLES = range(1, 3)  # Lengths of n-grams with a syllable or an ideograph.
MOOD = "[\u3131-\u318e!~^]"  # Ignored: single Hangul letters, such as those of ㅋㅋ and ㅠㅠ, and some signs.
FIRST_SYLLABLE = "\u2e80"  # Alphabets, digits and signs precede it. Kana, Chinese characters and Hangul follow it.
FEATURES = 2**18  # Number of columns for n-grams.
CANDIDATES = 200  # Number of questions, nearest by n-grams, whose embeddings are compared.
BITS = 2**32 - 1  # Bit mask of a 32-bit unsigned integer.


class Retriever:
    """The index of known questions and their answers.

    Args:
        folder: The exported folder, a `pathlib.Path`.
    """

    def __init__(self, folder):
        lines = (folder / "exchanges.jsonl").read_text("utf-8").split("\n")
        self.exchanges = [json.loads(line) for line in lines if line]
        self.exact = {}
        for number, exchange in enumerate(self.exchanges):
            self.exact.setdefault(normalize(exchange["question"]), number)
        with np.load(folder / "retrieval.npz") as arrays:
            self.rows = {column: row for row, column in enumerate(arrays["columns"].tolist())}
            self.idf, self.starts = arrays["idf"], arrays["starts"]
            self.questions, self.weights = arrays["questions"], arrays["weights"]
            self.vectors, self.embedded = arrays["vectors"], arrays["embedded"]
            self.closed = bool(arrays["closed"])  # Whether no answer is generated to a question that is like no other.

    def answer(self, question):
        """Returns the answer of the nearest known question, if it is similar enough.

        Args:
            question: A text that is not blank.

        Returns:
            A tuple of the answer and the similarity, from 0 to 1; the answer is empty if none is known and none should
            be generated. None if an answer should be generated instead.
        """
        number, similarity = self.nearest(question)
        if number is None:
            return ("", 0.0) if self.closed else None
        exchange = self.exchanges[number]
        least = exchange["least_similarity"]
        return None if least is None or similarity < least else (exchange["answer"], similarity)

    def nearest(self, question):
        """Returns the number of the nearest known question, None if none shares an n-gram, and its similarity."""
        text = normalize(question)
        if text in self.exact:
            return self.exact[text], 1.0
        rows, weights = self.weighted(text)
        cosines = self.cosines(rows, weights)
        [known] = cosines.nonzero()
        if not len(known):
            return None, 0.0
        best = np.argsort(-cosines[known], kind="stable")[:CANDIDATES]
        candidates = np.sort(known[best])  # Of equal ones, the first wins.
        similarities = cosines[candidates]
        if self.embedded.shape[1]:
            embedding = self.embedding(rows, weights).astype("float32") * self.coverage(rows, weights)
            similarities = similarities + self.embedded[candidates].astype("float32") @ embedding
        best = np.round(similarities, DECIMALS).argmax()  # Of equal ones, the first wins.
        return int(candidates[best]), float(similarities[best].clip(0, 1))

    def weighted(self, text):
        """Returns the rows of a normalized text's n-grams, and their normalized TF-IDF weights, float32 (ngrams,)."""
        counts = collections.Counter(map(column_of, character_ngrams(text)))
        rows = [self.rows.get(column, len(self.rows)) for column in counts]
        return rows, unit_vector(np.fromiter(counts.values(), "float32") * self.idf[rows])

    def cosines(self, rows, weights):
        """Returns the cosine similarities of the TF-IDF vectors of a text and all questions, float32 (questions,)."""
        cosines = np.zeros(len(self.embedded), "float32")
        for weight, start, end in zip(weights, self.starts[rows], self.starts[1:][rows]):
            cosines[self.questions[start:end]] += weight * self.weights[start:end]
        return cosines

    def embedding(self, rows, weights):
        """Returns the embedding of a text, float16 (dimensions,), like the embeddings of the known questions."""
        return unit_vector(weights @ self.vectors[rows].astype("float32")).astype("float16")

    def coverage(self, rows, weights):
        """Returns the share of a text that its embedding is made of: its n-grams with a vector, by squared weight."""
        return (weights[self.vectors[rows].any(axis=1)] ** 2).sum()


def unit_vector(vector):
    """Normalizes a vector to unit length. A zero vector stays zero."""
    return vector / max(np.linalg.norm(vector), 1e-12)


def normalize(text):
    """Applies Unicode NFC, collapses white space into single spaces and strips the ends."""
    return re.sub(SPACES, " ", unicodedata.normalize("NFC", text)).strip(" ")


def character_ngrams(text):
    """Returns the n-grams of a normalized text as a list. Every word is padded with one space on each side."""
    words = (re.sub(MOOD, "", text).strip(" ") or text).lower().split(" ")
    return [ngram for word in words if word for ngram in ngrams_of_word(f" {word} ")]


def ngrams_of_word(word):
    """Returns the n-grams of a padded word, shortest first."""
    return [
        ngram
        for length in range(1, LETTERS.stop)
        for ngram in (word[start : start + length] for start in range(len(word) - length + 1))
        if length in (LETTERS if max(ngram) < FIRST_SYLLABLE else SYLLABLES)
    ]


def column_of(ngram):
    """Returns the column of an n-gram in scikit-learn's `HashingVectorizer`: the absolute value of its signed hash."""
    hashed = murmur_hash(ngram.encode("utf-8"))
    return min(hashed, 2**32 - hashed) % FEATURES


def murmur_hash(data):
    """Returns MurmurHash3 (x86, 32 bits, seed 0) of bytes, an unsigned integer."""
    hashed = 0
    for start in range(0, len(data), 4):
        word = data[start : start + 4]
        hashed ^= rotated(int.from_bytes(word, "little") * 0xCC9E2D51 & BITS, 15) * 0x1B873593 & BITS
        if len(word) == 4:
            hashed = rotated(hashed, 13) * 5 + 0xE6546B64 & BITS
    hashed ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashed = (hashed ^ hashed >> shift) * factor & BITS
    return hashed ^ hashed >> 16


def rotated(number, bits):
    """Rotates the bits of a 32-bit unsigned integer to the left."""
    return (number << bits | number >> 32 - bits) & BITS
