"""Statistics of a corpus: lengths of texts, sizes of dataset splits, and data leakage between them."""

import dataclasses

import numpy as np

from keras_transformer.data.split import SPLITS
from keras_transformer.language import translate_count

BARS = 10
MOST_NAMED = 5


@dataclasses.dataclass(frozen=True)
class Rows:
    """Some rows of a corpus.

    Attributes:
        count: Number of rows.
        first: Row numbers of the first few, starting from 1.
    """

    count: int = 0
    first: tuple = ()

    @classmethod
    def of(cls, numbers):
        """Creates `Rows` from an ordered sequence of row numbers."""
        return cls(len(numbers), tuple(map(int, numbers[:MOST_NAMED])))

    def with_row(self, number):
        """Returns these rows and one more."""
        return Rows(self.count + 1, (*self.first, number) if self.count < MOST_NAMED else self.first)

    def __str__(self):
        numbers = ", ".join([*map(str, self.first), *(["…"] if self.count > len(self.first) else [])])
        return translate_count("{count:,} row ({numbers})", "{count:,} rows ({numbers})", self.count, numbers=numbers)


@dataclasses.dataclass(frozen=True)
class Counted:
    """A row that represents several, with a count.

    Attributes:
        row: The first of these rows.
        count: Number of rows, or of something else that is counted.
    """

    row: int
    count: int


@dataclasses.dataclass(frozen=True)
class Lengths:
    """Statistics of the lengths of texts.

    Attributes:
        median: Median.
        p95: 95th percentile.
        p99: 99th percentile.
        longest: Maximum.
        row: Row of the longest text.
    """

    median: int
    p95: int
    p99: int
    longest: int
    row: int


@dataclasses.dataclass(frozen=True)
class Tokens:
    """Lengths of a sample of pairs in tokens, start and end included.

    Attributes:
        pairs: Number of pairs in the sample.
        questions: `Lengths` of the questions.
        answers: `Lengths` of the answers.
        histogram: Tuple of (shortest, longest, questions, answers) for each bar, the latter two being counts.
    """

    pairs: int
    questions: Lengths
    answers: Lengths
    histogram: tuple


def describe_tokens(questions, answers, rows):
    """Returns the `Tokens` of pairs from their lengths and row numbers, integers (pairs,) each."""
    sides = describe_lengths(questions, rows), describe_lengths(answers, rows)
    return Tokens(len(rows), *sides, histogram(questions, answers))


def describe_lengths(lengths, rows):
    """Returns the `Lengths` of texts from their lengths and row numbers, integers (texts,) each."""
    longest = int(np.argmax(lengths))
    quantiles = (quantile(lengths, share) for share in (0.5, 0.95, 0.99))
    return Lengths(*quantiles, int(lengths[longest]), int(rows[longest]))


def quantile(lengths, share):
    """Returns the smallest length that a given share of the lengths does not exceed."""
    return int(np.quantile(lengths, share, method="inverted_cdf"))


def histogram(*columns):
    """Computes a histogram of several columns of lengths with common bars.

    The bars have equal widths and reach to the 99th percentile; the last bar contains longer texts, if there are any.

    Args:
        *columns: Integers (texts,), none below 1.

    Returns:
        A tuple of (shortest, longest, count for each column).
    """
    longest = max(int(column.max()) for column in columns)
    width = -(-max(quantile(column, 0.99) for column in columns) // BARS)
    edges = [*range(1, BARS * width + 2, width)]
    edges = [edge for edge in edges if edge <= longest] + [longest + 1]
    counts = [np.histogram(column, edges)[0] for column in columns]
    return tuple((start, end - 1, *map(int, of)) for start, end, *of in zip(edges, edges[1:], *counts))


WORST_NAMED = 3


@dataclasses.dataclass(frozen=True)
class Held:
    """A dataset split that is held out from training.

    Attributes:
        pairs: Number of pairs.
        near: Number of pairs with a question in the training split, ignoring case, punctuation and white space.
        known: Number of pairs with exactly the same answer in the training split.
    """

    pairs: int
    near: int
    known: int


@dataclasses.dataclass(frozen=True)
class Split:
    """The dataset splits of a corpus.

    Attributes:
        train: Number of training pairs.
        validation: The validation split, `Held`.
        test: The test split, `Held`.
        near: Tuple of (row, row in training) for the first held-out questions with near-duplicates in training.
    """

    train: int
    validation: Held
    test: Held
    near: tuple

    @property
    def held(self):
        """Number of pairs held out from training."""
        return self.validation.pairs + self.test.pairs

    @property
    def near_share(self):
        """Share of the held-out pairs whose question has a near-duplicate in training."""
        return (self.validation.near + self.test.near) / max(1, self.held)


def describe_split(pairs):
    """Returns the `Split` of pairs in the form of `CorpusScan.pairs`.

    Equal questions are always in the same split, because it is chosen by their hash; near-duplicates may not be.
    """
    train = pairs["split"] == SPLITS.index("train")
    key = pairs["key"]
    near = ~train & (key != hash("")) & np.isin(key, key[train])
    known = np.isin(pairs["answer"], pairs["answer"][train])
    validation, test = (_held(pairs["split"] == SPLITS.index(name), near, known) for name in ("validation", "test"))
    rows, train_rows, train_keys = pairs["row"], pairs["row"][train], key[train]
    first = np.flatnonzero(near)[:WORST_NAMED]
    named = [(int(rows[i]), int(train_rows[np.argmax(train_keys == key[i])])) for i in first]
    return Split(int(train.sum()), validation, test, tuple(named))


def _held(chosen, near, known):
    return Held(int(chosen.sum()), int((chosen & near).sum()), int((chosen & known).sum()))
