"""The frozen split of a corpus into train, validation and test by hashes of the questions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from keras_transformer.text.normalize import compose

if TYPE_CHECKING:
    import pandas

SPLITS = ("train", "validation", "test")


def split_name(question):
    """Returns the split of a question, which depends only on a hash of its text.

    Equal questions always belong to the same split, so that test questions do not leak into training. The split does
    not change when a corpus grows, is reordered, or is read by another program.

    Args:
        question: Text; surrounding white space and Unicode composition (NFC or not) do not matter.

    Returns:
        "test" (5 of 100 questions), "validation" (5) or "train" (90).
    """
    bucket = int(hashlib.sha256(canonical(question).encode("utf-8")).hexdigest()[:8], 16) % 100
    if bucket < 5:
        return "test"
    return "validation" if bucket < 10 else "train"


def canonical(question):
    """Returns a question in its canonical form: stripped of surrounding white space, composed (NFC)."""
    return compose(question.strip())


def split_pairs(pairs: pandas.DataFrame) -> dict[str, pandas.DataFrame]:
    """Splits a corpus by its questions, and conversations by their first turns.

    The pairs of a conversation stay together, so a later question of a conversation may occur in several splits.

    Args:
        pairs: DataFrame with a column "question"; a column "opening" takes precedence.

    Returns:
        A dictionary from each of `SPLITS` to its rows, in their order.
    """
    splits = pairs["opening" if "opening" in pairs else "question"].map(split_name)
    return {name: pairs[splits == name].reset_index(drop=True) for name in SPLITS}
