"""Baselines without a language model: the most frequent answer, and that to the most similar training question."""

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
    """Returns the most frequent answer of the training pairs, the first one if several are equal."""
    return collections.Counter(map(normalize, train["answer"])).most_common(1)[0][0]


class NearestQuestions:
    """An index of training questions by the cosine of their TF-IDF vectors.

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
        """Returns the answer to the nearest training question of each question, or else the most frequent answer."""
        near = self.neighbours(questions, 1)
        return [found[0][0] if found else self._otherwise for found in near]

    def neighbours(self, questions, count, more=0.0):
        """Yields a list of (answer, cosine) of the nearest training questions of each question, nearest first.

        Of equally near questions, the first one comes first. Questions that have nothing in common are excluded,
        so that a list may be shorter than `count`, or empty.

        Args:
            questions: The questions, a list of texts.
            count: Maximum number of answers per question.
            more: Added to the cosines, float (questions, training questions).
        """
        cosines = (self._vectorizer.transform(map(normalize, questions)) @ self._known.T).toarray()
        for row in cosines + more:
            nearest = np.argsort(-row, kind="stable")[:count]
            yield [(self._answers[index], float(row[index])) for index in nearest if row[index] > 0]


def choose_variant(validation):
    """Selects the variant of `NearestQuestions` with the best chrF on the validation split.

    Returns:
        The name of the variant, and a dictionary from all variants to their chrF.
    """
    found = {name: chrf_of(validation, name) for name in VARIANTS}
    return max(found, key=found.get), found


def chrf_of(exam, variant):
    """Returns the chrF of a variant's answers."""
    return text_metrics.chrf(nearest(exam, variant).texts, exam.references).value


def nearest(exam, variant):
    """Returns the `Answers` of the nearest questions."""
    return Answers(NearestQuestions(exam.train, variant).answers(exam.questions))


def most_frequent_baseline(exam):
    """Returns the `Answers` of the baseline that always gives the most frequent answer."""
    return Answers([most_frequent_answer(exam.train)] * len(exam.questions))
