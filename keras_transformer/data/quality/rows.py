"""Rows that a report names: how many there are, and the first of them by number."""

import dataclasses

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
