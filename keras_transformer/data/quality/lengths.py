"""How long the texts of a corpus are."""

import dataclasses

import numpy as np

BARS = 10


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
