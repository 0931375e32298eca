"""Metrics that compare answers with references as texts.

Every score that is a function of sums over questions stores the addends of each question, so that it can be recomputed
for any resample of the questions; see `intervals`.
"""

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np

from keras_transformer.compat import score_of_statistics, sentence_statistics
from keras_transformer.errors import import_extra
from keras_transformer.text.jamo import mostly_korean
from keras_transformer.text.normalize import normalize

NEEDED = ("sacrebleu", "rapidfuzz")


@dataclasses.dataclass(frozen=True)
class Score:
    """A corpus-level score.

    Attributes:
        addends: The addends of each question, an array (questions, n).
        of: Function from the sum of the addends (n,) to the score.
        signature: The sacreBLEU signature of the computation; None for other scores.
    """

    addends: np.ndarray
    of: Callable
    signature: str | None = None

    @property
    def value(self):
        """The score, a float."""
        return float(self.of(self.addends.sum(axis=0)))


def chrf(answers, references):
    """Computes chrF2 with sacreBLEU, from 0 to 100. Character n-grams suit Korean as well as English.

    The other metrics of this module that take `answers` and `references` have the same arguments and return value.

    Args:
        answers: The answers, a list of texts.
        references: For each answer, a list of reference texts.

    Returns:
        A `Score`.
    """
    return by_sacrebleu(package("sacrebleu.metrics").CHRF(), answers, references)


def bleu(answers, references):
    """Computes BLEU with sacreBLEU, from 0 to 100.

    BLEU is computed on characters (`tok:char`) if most references are Korean, else on words (`tok:13a`). Korean words
    include their particles, so that n-grams of whole words rarely match.
    """
    tokenize = "char" if mostly_korean(list(itertools.chain(*references))) else "13a"
    return by_sacrebleu(package("sacrebleu.metrics").BLEU(tokenize=tokenize, force=True), answers, references)


def by_sacrebleu(metric, answers, references):
    """Returns the `Score` of a sacreBLEU metric on texts in NFC; sacreBLEU itself does not normalize them."""
    answers, references = list(map(normalize, answers)), [list(map(normalize, texts)) for texts in references]
    addends = sentence_statistics(metric, answers, list(itertools.zip_longest(*references)))
    signature = metric.get_signature().format()
    return Score(np.array(addends), lambda total: score_of_statistics(metric, list(total)), signature)


def exact_match(answers, references):
    """Computes the share of answers that equal a reference, ignoring white space and Unicode composition."""
    matches = [normalize(answer) in map(normalize, texts) for answer, texts in zip(answers, references)]
    return mean(matches)


def word_error_rate(answers, references):
    """Computes the word error rate: word edits to the nearest reference, divided by the words of these references."""
    distance = package("rapidfuzz.distance").Levenshtein.distance
    addends = []
    for answer, texts in zip(map(words, answers), references):
        edits = [(distance(answer, right), len(right)) for right in map(words, texts)]
        addends.append(min(edits, key=lambda pair: pair[0] / pair[1]))
    return Score(np.array(addends), ratio)


def answer_length(answers):
    """Computes the mean length of the answers in characters."""
    return mean([len(normalize(answer)) for answer in answers])


def copied(answers, training_answers):
    """Computes the share of answers that are verbatim training answers."""
    training_texts = set(map(normalize, training_answers))
    return mean([normalize(answer) in training_texts for answer in answers])


def distinct(answers, n):
    """Returns the share of distinct word n-grams among all word n-grams; 0 if there are none.

    This is not a `Score`: an n-gram in two answers counts once, so that it is not a sum over answers.
    """
    ngrams = [tuple(row[i : i + n]) for row in map(words, answers) for i in range(len(row) - n + 1)]
    return len(set(ngrams)) / len(ngrams) if ngrams else 0.0


def words(text):
    """Splits a normalized text at white space."""
    return normalize(text).split()


def mean(values):
    """Returns the `Score` that is the mean of one number per question."""
    return Score(np.array([(value, 1) for value in values]), ratio)


def ratio(total):
    """Returns the ratio of two sums."""
    return total[0] / total[1]


def check_packages():
    """Raises `InputError` if a package of the extra `evaluate` is missing."""
    for name in NEEDED:
        package(name)


def package(name):
    """Imports a module of the extra `evaluate`; raises `InputError` if its package is missing."""
    return import_extra(name, "evaluate", "evaluating")
