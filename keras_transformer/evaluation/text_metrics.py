"""What answers are worth beside the references, from texts alone.

Every score that adds up is kept as what each question adds to it, so that it can be computed anew for any choice of the
questions; see `intervals`.
"""

import dataclasses
import importlib
import itertools
import re
from collections.abc import Callable

import numpy as np

from keras_transformer.errors import InputError
from keras_transformer.text.normalize import normalize

NEEDED = ("sacrebleu", "rapidfuzz")
HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")


@dataclasses.dataclass(frozen=True)
class Score:
    """A score of all questions together.

    Attributes:
        addends: What each question adds, an array (questions, n).
        of: The score of their sum (n,), a function.
        signature: How it was computed, as others write it; None where its name says all.
    """

    addends: np.ndarray
    of: Callable
    signature: str | None = None

    @property
    def value(self):
        """The score, a float."""
        return float(self.of(self.addends.sum(axis=0)))


def chrf(answers, references):
    """ChrF2 by sacreBLEU, from 0 to 100: character n-grams, which suit Korean as well as English.

    Args:
        answers: Texts.
        references: For each answer a list of texts that would have been right.

    Returns:
        A `Score`, as from the other functions here that take the same.
    """
    return by_sacrebleu(package("sacrebleu.metrics").CHRF(), answers, references)


def bleu(answers, references):
    """BLEU by sacreBLEU, from 0 to 100, over characters (`tok:char`) if most references have Hangul, else `tok:13a`.

    Korean words carry their particles, so that n-grams of whole words hardly ever meet.
    """
    tokenize = "char" if mostly_korean(list(itertools.chain(*references))) else "13a"
    return by_sacrebleu(package("sacrebleu.metrics").BLEU(tokenize=tokenize, force=True), answers, references)


def mostly_korean(texts):
    """Whether most of a list of texts have Hangul."""
    return 2 * sum(bool(HANGUL.search(text)) for text in texts) > len(texts)


def by_sacrebleu(metric, answers, references):
    """The `Score` of one of sacreBLEU's metrics, in NFC, of which sacreBLEU knows nothing."""
    answers, references = list(map(normalize, answers)), [list(map(normalize, texts)) for texts in references]
    # What each question adds is public in none of its interfaces; its own resampling tells no bounds.
    addends = metric._extract_corpus_statistics(answers, list(itertools.zip_longest(*references)))
    signature = metric.get_signature().format()
    return Score(np.array(addends), lambda total: metric._compute_score_from_stats(list(total)).score, signature)


def exact_match(answers, references):
    """Share of the answers that are a reference, but for white space and composition."""
    found = [normalize(answer) in map(normalize, texts) for answer, texts in zip(answers, references)]
    return mean(found)


def word_error_rate(answers, references):
    """Words to insert, delete or replace to reach the nearest reference, for each word of these references."""
    distance = package("rapidfuzz.distance").Levenshtein.distance
    addends = []
    for answer, texts in zip(map(words, answers), references):
        edits = [(distance(answer, right), len(right)) for right in map(words, texts)]
        addends.append(min(edits, key=lambda pair: pair[0] / pair[1]))
    return Score(np.array(addends), ratio)


def answer_length(answers):
    """Mean length of an answer in characters."""
    return mean([len(normalize(answer)) for answer in answers])


def copied(answers, training_answers):
    """Share of the answers that stand word for word among those of training."""
    known = set(map(normalize, training_answers))
    return mean([normalize(answer) in known for answer in answers])


def distinct(answers, n):
    """Share of different ones among all runs of `n` words; 0 if there is none.

    It is no `Score`: a run of words in two answers counts once, so that answers do not add up.
    """
    runs = [tuple(row[i : i + n]) for row in map(words, answers) for i in range(len(row) - n + 1)]
    return len(set(runs)) / len(runs) if runs else 0.0


def words(text):
    """What stands between white space."""
    return normalize(text).split()


def mean(values):
    """The `Score` that is the mean of a number of each question."""
    return Score(np.array([(value, 1) for value in values]), ratio)


def ratio(total):
    """The first of two sums for each of the second."""
    return total[0] / total[1]


def check_packages():
    """Raises `InputError` if a package of the extra is missing."""
    for name in NEEDED:
        package(name)


def package(name):
    """A module of the extra; raises `InputError` if its package is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        what = f"evaluating needs the package {error.name}, which is missing"
        raise InputError(f"{what}: pip install 'keras-transformer[evaluate]'") from error
