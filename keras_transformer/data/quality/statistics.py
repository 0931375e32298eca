"""How long the texts of a corpus are, how large its dataset splits, and how much of them training knows beforehand."""

import dataclasses

import numpy as np

from keras_transformer.data.split import PARTS

BARS = 10
MOST_NAMED = 5


@dataclasses.dataclass(frozen=True)
class Rows:
    """Some rows of a corpus.

    Attributes:
        count: How many they are.
        first: The numbers of the first few, from 1.
    """

    count: int = 0
    first: tuple = ()

    @classmethod
    def of(cls, numbers):
        """The rows of these numbers, a sequence in their order."""
        return cls(len(numbers), tuple(map(int, numbers[:MOST_NAMED])))

    def with_row(self, number):
        """These rows and one more."""
        return Rows(self.count + 1, (*self.first, number) if self.count < MOST_NAMED else self.first)

    def __str__(self):
        numbers = ", ".join([*map(str, self.first), *(["…"] if self.count > len(self.first) else [])])
        return f"{self.count:,} {'row' if self.count == 1 else 'rows'} ({numbers})"


@dataclasses.dataclass(frozen=True)
class Counted:
    """A row that stands for several.

    Attributes:
        row: The first of them.
        count: How many they are, or what else is counted of them.
    """

    row: int
    count: int


@dataclasses.dataclass(frozen=True)
class Lengths:
    """The lengths of some texts.

    Attributes:
        median: Half of them are no longer.
        p95: 95 of 100 are no longer.
        p99: 99 of 100 are no longer.
        longest: The longest.
        row: Where the longest stands.
    """

    median: int
    p95: int
    p99: int
    longest: int
    row: int


@dataclasses.dataclass(frozen=True)
class Tokens:
    """The lengths of a sample of pairs in tokens, start and end included.

    Attributes:
        pairs: How many pairs the sample has.
        questions: `Lengths` of their questions.
        answers: `Lengths` of their answers.
        histogram: How often they occur: (shortest, longest, questions, answers) for each bar.
    """

    pairs: int
    questions: Lengths
    answers: Lengths
    histogram: tuple


def describe_tokens(questions, answers, rows):
    """The `Tokens` of pairs: integers (pairs,) of both their lengths and of their rows."""
    sides = describe_lengths(questions, rows), describe_lengths(answers, rows)
    return Tokens(len(rows), *sides, histogram(questions, answers))


def describe_lengths(lengths, rows):
    """The `Lengths` of the texts in these rows: integers (texts,) and (texts,)."""
    longest = int(np.argmax(lengths))
    quantiles = (quantile(lengths, share) for share in (0.5, 0.95, 0.99))
    return Lengths(*quantiles, int(lengths[longest]), int(rows[longest]))


def quantile(lengths, share):
    """The least length that this share of the lengths does not exceed."""
    return int(np.quantile(lengths, share, method="inverted_cdf"))


def histogram(*columns):
    """How often lengths occur, counted in the same bars for several columns of them.

    The bars are equally wide and reach to where 99 of 100 lengths end; one more has the rest, if there is a rest.

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
    """A part that is held out of training.

    Attributes:
        pairs: Its pairs.
        near: How many of them have a question that stands in training, but for case, punctuation or white space.
        known: How many have an answer that stands in training, letter by letter.
    """

    pairs: int
    near: int
    known: int


@dataclasses.dataclass(frozen=True)
class Split:
    """The parts of a corpus.

    Attributes:
        train: Pairs to train on.
        validation: The part that tells when to stop, as `Held`.
        test: The part for the last score, likewise.
        near: For the first held-out questions that stand nearly so in training: (row, row in training).
    """

    train: int
    validation: Held
    test: Held
    near: tuple

    @property
    def held(self):
        """Pairs held out of training."""
        return self.validation.pairs + self.test.pairs

    @property
    def near_share(self):
        """Share of the held-out pairs whose question stands nearly so in training."""
        return (self.validation.near + self.test.near) / max(1, self.held)


def describe_split(pairs):
    """The `Split` of pairs, which are as in `Survey.pairs`.

    Equal questions are never in two parts, since the split goes by their hash; nearly equal ones may be.
    """
    train = pairs["part"] == PARTS.index("train")
    key = pairs["key"]
    near = ~train & (key != hash("")) & np.isin(key, key[train])
    known = np.isin(pairs["answer"], pairs["answer"][train])
    validation, test = (_held(pairs["part"] == PARTS.index(name), near, known) for name in ("validation", "test"))
    rows, train_rows, train_keys = pairs["row"], pairs["row"][train], key[train]
    first = np.flatnonzero(near)[:WORST_NAMED]
    named = [(int(rows[i]), int(train_rows[np.argmax(train_keys == key[i])])) for i in first]
    return Split(int(train.sum()), validation, test, tuple(named))


def _held(chosen, near, known):
    return Held(int(chosen.sum()), int((chosen & near).sum()), int((chosen & known).sum()))
