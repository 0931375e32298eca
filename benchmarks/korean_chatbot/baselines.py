"""Answers without a model of language: always the same one, or that of the most similar training question."""

import collections

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.korean_chatbot.exam import Answers
from keras_transformer.evaluation import text_metrics
from keras_transformer.text.normalize import normalize

VARIANTS = {
    "words": {"analyzer": "word", "token_pattern": r"\S+"},
    "words and pairs of words": {"analyzer": "word", "token_pattern": r"\S+", "ngram_range": (1, 2)},
    "1 to 2 characters": {"analyzer": "char_wb", "ngram_range": (1, 2)},
    "1 to 3 characters": {"analyzer": "char_wb", "ngram_range": (1, 3)},
    "2 to 3 characters": {"analyzer": "char_wb", "ngram_range": (2, 3)},
    "2 to 4 characters": {"analyzer": "char_wb", "ngram_range": (2, 4)},
}
"""What of a question is counted, as scikit-learn's vectorizer is told."""


def most_frequent_answer(train):
    """The answer that most training pairs have, of equals the first."""
    return collections.Counter(map(normalize, train["answer"])).most_common(1)[0][0]


class NearestQuestions:
    """Training questions by the cosine of their TF-IDF vectors to another one's.

    Args:
        train: Training pairs, a DataFrame.
        variant: One of `VARIANTS`.

    Attributes:
        questions: The training questions.
    """

    def __init__(self, train, variant):
        self.questions = list(map(normalize, train["question"]))
        self._answers, self._otherwise = list(map(normalize, train["answer"])), most_frequent_answer(train)
        self._vectorizer = TfidfVectorizer(dtype=np.float32, **VARIANTS[variant])
        self._known = self._vectorizer.fit_transform(self.questions)

    def answers(self, questions):
        """For each question the answer of the nearest one; where nothing is near, the most frequent answer."""
        near = self.neighbours(questions, 1)
        return [found[0][0] if found else self._otherwise for found in near]

    def neighbours(self, questions, count, more=0.0):
        """Yields for each question the answers of the nearest ones with their cosines, of equals the first ones first.

        Questions that have nothing in common with it are left out, so that a list may be shorter, or empty.

        Args:
            questions: Texts.
            count: How many answers each gets at most.
            more: What is added to the cosines, floats (questions, training questions).
        """
        cosines = (self._vectorizer.transform(map(normalize, questions)) @ self._known.T).toarray()
        for row in cosines + more:
            nearest = np.argsort(-row, kind="stable")[:count]
            yield [(self._answers[index], float(row[index])) for index in nearest if row[index] > 0]


def choose_variant(validation):
    """The variant of `NearestQuestions` that does best on an exam of the validation split.

    Returns:
        Its name, and chrF of all variants by their names.
    """
    found = {name: chrf_of(validation, name) for name in VARIANTS}
    return max(found, key=found.get), found


def chrf_of(exam, variant):
    """The chrF of a variant's answers."""
    return text_metrics.chrf(nearest(exam, variant).texts, exam.references).value


def nearest(exam, variant):
    """The `Answers` of the nearest questions."""
    return Answers(NearestQuestions(exam.train, variant).answers(exam.questions))


def always_the_same(exam):
    """The `Answers` of who says the most frequent answer whatever was asked."""
    return Answers([most_frequent_answer(exam.train)] * len(exam.questions))
