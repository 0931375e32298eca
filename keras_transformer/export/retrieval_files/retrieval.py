"""Finds the known question that is nearest to a new one, and its answer, in the files beside this one.

    exchanges.jsonl   known questions and their answers, a line each: their numbers, counted from 0, are those below
    retrieval.npz     what the questions are found by

The similarity is the mean of two cosines: of TF-IDF vectors of character n-grams, and of embeddings, which were learned
from the known questions and answers. An embedding is the sum of the vectors of a question's n-grams, weighted by their
TF-IDF, at length 1. The arrays of retrieval.npz:

    columns     the n-grams that known questions have, as `column_of` numbers them, int32 (ngrams,), ascending
    idf         the weights of these, and last that of any other n-gram, float32 (ngrams + 1,)
    starts      where the places of each n-gram begin in the next two arrays, and end, int32 (ngrams + 2,)
    questions   the numbers of the questions that have the n-gram, int32 (places,)
    weights     what it weighs in their vectors, float32 (places,)
    vectors     what each n-gram adds to an embedding, and last any other one, zeros: float16 (ngrams + 1, dimensions)
    embedded    the embeddings of the known questions, float16 (questions, dimensions); of no dimensions if n-grams
                alone are compared

Nothing but NumPy is needed, and all of it may be written again in another language.
"""

import collections
import json
import re
import unicodedata

import numpy as np

SPACES = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
LETTERS = range(2, 5)  # Characters of an n-gram of letters: " ta", "cat".
SYLLABLES = range(1, 3)  # Of one that has a syllable or an ideograph.
FIRST_SYLLABLE = "\u2e80"  # Alphabets, digits and signs come before it; kana, Chinese characters and Hangul after it.
FEATURES = 2**18  # Columns that n-grams are counted in.
CANDIDATES = 200  # Questions nearest by n-grams whose embeddings are compared.
BITS = 2**32 - 1  # Of an unsigned integer.


class Retriever:
    """The known questions and their answers.

    Args:
        folder: Where their files are, a `pathlib.Path`.
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

    def answer(self, question):
        """The answer of the nearest known question, where that is near enough to answer.

        Args:
            question: A text, not blank.

        Returns:
            The answer and the similarity, from 0 to 1; None where an answer shall be generated.
        """
        number, similarity = self.nearest(question)
        if number is None:
            return None
        exchange = self.exchanges[number]
        least = exchange["least_similarity"]
        return None if least is None or similarity < least else (exchange["answer"], similarity)

    def nearest(self, question):
        """The number of the nearest known question, None if none has an n-gram in common, and its similarity."""
        text = normalize(question)
        if text in self.exact:
            return self.exact[text], 1.0
        rows, weights = self.weighted(text)
        cosines = self.cosines(rows, weights)
        [known] = cosines.nonzero()
        if not len(known):
            return None, 0.0
        best = np.argsort(-cosines[known], kind="stable")[:CANDIDATES]
        candidates = np.sort(known[best])  # So that of equals the first is found.
        similarities = cosines[candidates]
        if self.embedded.shape[1]:
            embedding = self.embedding(rows, weights).astype("float32")
            similarities = (similarities + self.embedded[candidates].astype("float32") @ embedding) / 2
        best = similarities.argmax()
        return int(candidates[best]), float(similarities[best].clip(0, 1))

    def weighted(self, text):
        """The rows of a normalized text's n-grams, a list, and their TF-IDF weights at length 1, float32 (ngrams,)."""
        counts = collections.Counter(map(column_of, character_ngrams(text)))
        rows = [self.rows.get(column, len(self.rows)) for column in counts]
        return rows, at_length_one(np.fromiter(counts.values(), "float32") * self.idf[rows])

    def cosines(self, rows, weights):
        """Those of the TF-IDF vectors of a text and of all known questions, float32 (questions,)."""
        cosines = np.zeros(len(self.embedded), "float32")
        for weight, start, end in zip(weights, self.starts[rows], self.starts[1:][rows]):
            cosines[self.questions[start:end]] += weight * self.weights[start:end]
        return cosines

    def embedding(self, rows, weights):
        """The embedding of a text, as precise as those of the known questions, float16 (dimensions,)."""
        return at_length_one(weights @ self.vectors[rows].astype("float32")).astype("float16")


def at_length_one(vector):
    """A vector at length 1; zeros stay."""
    return vector / max(np.linalg.norm(vector), 1e-12)


def normalize(text):
    """Composes characters (NFC), turns every run of white space into one space, and strips the ends."""
    return re.sub(SPACES, " ", unicodedata.normalize("NFC", text)).strip(" ")


def character_ngrams(text):
    """The n-grams of a normalized text, a list; every word has a space before and behind it."""
    return [ngram for word in text.lower().split(" ") if word for ngram in ngrams_of_word(f" {word} ")]


def ngrams_of_word(word):
    """The n-grams of a word with its two spaces, shortest first."""
    return [
        ngram
        for length in range(1, LETTERS.stop)
        for ngram in (word[start : start + length] for start in range(len(word) - length + 1))
        if length in (LETTERS if max(ngram) < FIRST_SYLLABLE else SYLLABLES)
    ]


def column_of(ngram):
    """The column in which scikit-learn's `HashingVectorizer` counts an n-gram: its hash, signed, without the sign."""
    hashed = murmur_hash(ngram.encode("utf-8"))
    return min(hashed, 2**32 - hashed) % FEATURES


def murmur_hash(data):
    """MurmurHash3 (x86, 32 bits, seed 0) of bytes, an unsigned integer."""
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
    """An unsigned integer whose bits are moved to the left, and those that leave come in again on the right."""
    return (number << bits | number >> 32 - bits) & BITS
