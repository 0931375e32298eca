"""The frozen split of a corpus: how large its parts are, and what of the held-out parts training knows beforehand."""

import dataclasses

import numpy as np

from keras_transformer.data.split import PARTS

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
