"""Duplicates in a corpus: repeated pairs, questions with several answers, and near-duplicate texts."""

import dataclasses
import unicodedata

import numpy as np

from keras_transformer.data.quality.statistics import Counted, Rows
from keras_transformer.text.normalize import compose


class _Letters(dict):
    """Translation table for `str.translate` that removes punctuation, symbols, white space and control characters."""

    def __missing__(self, code):
        self[code] = None if unicodedata.category(chr(code))[0] in "CPSZ" else code
        return self[code]


_LETTERS = _Letters()


def likeness_key(text):
    """Returns a text in NFKC, case-folded, without punctuation, symbols and white space.

    "Hello!", "hello" and "ＨＥＬＬＯ ～" have the same key. The key of a text without letters and digits is empty.
    """
    return unicodedata.normalize("NFKC", compose(text)).casefold().translate(_LETTERS)


WORST_NAMED = 3


@dataclasses.dataclass(frozen=True)
class Repeats:
    """Duplicates in a corpus.

    Attributes:
        questions: Number of distinct questions.
        answers: Number of distinct answers.
        duplicates: The `Rows` that repeat the pair of an earlier row.
        ambiguous: Number of questions with more than one answer.
        most_answered: First rows of the questions with the most answers, as `Counted` with the number of answers.
        commonest: First rows of the most frequent answers, as `Counted` with the number of rows.
    """

    questions: int
    answers: int
    duplicates: Rows
    ambiguous: int
    most_answered: tuple
    commonest: tuple


def find_repeats(pairs):
    """Returns the `Repeats` of pairs in the form of `CorpusScan.pairs`."""
    rows, questions, answers = pairs["row"], pairs["question"], pairs["answer"]
    both = questions * 31 + answers  # Hash of both hashes; integer overflow is harmless.
    first = np.sort(np.unique(both, return_index=True)[1])
    repeated = np.ones(len(rows), bool)
    repeated[first] = False
    distinct_questions, question_row, answers_each = np.unique(questions[first], return_index=True, return_counts=True)
    distinct_answers, answer_row, times = np.unique(answers, return_index=True, return_counts=True)
    return Repeats(
        questions=len(distinct_questions),
        answers=len(distinct_answers),
        duplicates=Rows.of(rows[repeated]),
        ambiguous=int((answers_each > 1).sum()),
        most_answered=_most(answers_each, rows[first][question_row]),
        commonest=_most(times, rows[answer_row]),
    )


def _most(counts, rows):
    """Returns the largest counts above 1 with their rows; ties are ordered by row."""
    order = np.lexsort((rows, -counts))[:WORST_NAMED]
    return tuple(Counted(int(rows[i]), int(counts[i])) for i in order if counts[i] > 1)
