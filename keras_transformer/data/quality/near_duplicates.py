"""What a corpus says more than once: pairs, questions with many answers, near-equal texts."""

import dataclasses
import unicodedata

import numpy as np

from keras_transformer.data.quality.statistics import Counted, Rows


class _Letters(dict):
    """For `str.translate`: takes out punctuation, symbols, white space and controls."""

    def __missing__(self, code):
        self[code] = None if unicodedata.category(chr(code))[0] in "CPSZ" else code
        return self[code]


_LETTERS = _Letters()


def likeness_key(text):
    """A text in its compatibility form (NFKC), without case, punctuation, symbols and white space.

    "Hello!", "hello" and "ＨＥＬＬＯ ～" have the same key. Of a text without letters and digits nothing is left.
    """
    return unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)


WORST_NAMED = 3


@dataclasses.dataclass(frozen=True)
class Repeats:
    """What is said more than once.

    Attributes:
        questions: How many different questions there are.
        answers: How many different answers.
        duplicates: The `Rows` whose pair stands in an earlier row too.
        ambiguous: How many questions have more than one answer.
        most_answered: Where the questions with most answers stand first, `Counted` by their different answers.
        commonest: Where the answers that are given most often stand first, `Counted` by their rows.
    """

    questions: int
    answers: int
    duplicates: Rows
    ambiguous: int
    most_answered: tuple
    commonest: tuple


def find_repeats(pairs):
    """The repeats among pairs, which are as in `Survey.pairs`."""
    rows, questions, answers = pairs["row"], pairs["question"], pairs["answer"]
    both = questions * 31 + answers  # Wraps around; hashes of hashes.
    first = np.sort(np.unique(both, return_index=True)[1])
    again = np.ones(len(rows), bool)
    again[first] = False
    asked, asked_row, answers_each = np.unique(questions[first], return_index=True, return_counts=True)
    given, given_row, times = np.unique(answers, return_index=True, return_counts=True)
    return Repeats(
        questions=len(asked),
        answers=len(given),
        duplicates=Rows.of(rows[again]),
        ambiguous=int((answers_each > 1).sum()),
        most_answered=_most(answers_each, rows[first][asked_row]),
        commonest=_most(times, rows[given_row]),
    )


def _most(counts, rows):
    """The largest counts above 1 with their rows; of equal ones, the earliest row comes first."""
    order = np.lexsort((rows, -counts))[:WORST_NAMED]
    return tuple(Counted(int(rows[i]), int(counts[i])) for i in order if counts[i] > 1)
