"""Padding of token ids: the id, and the function that makes rows equally long."""

import numpy as np

PAD_ID = 0
"""Id of padding, in every vocabulary. It is masked in attention, has no loss, and is never generated."""


def pad(rows, length=None):
    """Pads rows of ids with `PAD_ID` at their ends.

    Args:
        rows: Sequences of ids, at least one.
        length: Length of the padded rows; None for that of the longest row.

    Returns:
        An int32 array (rows, length).
    """
    table = np.full((len(rows), max(map(len, rows)) if length is None else length), PAD_ID, "int32")
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table
