"""The frozen split: which part of a corpus a question belongs to."""

import hashlib
import unicodedata

PARTS = ("train", "validation", "test")


def part(question):
    """The part a question belongs to, by a hash of its text alone.

    Equal questions always fall into one part, so that no question of the test is met in training; and the split stays
    the same when a corpus grows, is reordered, or is read by another program.

    Args:
        question: Text; surrounding white space and its composition (NFC or not) do not matter.

    Returns:
        "test" (5 of 100 questions), "validation" (5) or "train" (90).
    """
    bucket = int(hashlib.sha256(canonical(question).encode("utf-8")).hexdigest()[:8], 16) % 100
    if bucket < 5:
        return "test"
    return "validation" if bucket < 10 else "train"


def canonical(question):
    """A question as it is compared with others: without surrounding white space, composed (NFC)."""
    return unicodedata.normalize("NFC", question.strip())


def split_pairs(pairs):
    """Splits a corpus by its questions, and conversations by their openings.

    The pairs of a conversation stay together, so that one of its later questions may be met in several parts.

    Args:
        pairs: DataFrame with a column "question"; where it has a column "opening", that one counts.

    Returns:
        A dictionary from each of `PARTS` to its rows, in their order.
    """
    parts = pairs["opening" if "opening" in pairs else "question"].map(part)
    return {name: pairs[parts == name].reset_index(drop=True) for name in PARTS}
