"""Which pairs share a row of a batch."""

import numpy as np

WIDTH = 64  # Tokens that a row holds of the longer side, or as many as its longest text has.
POOL = 4096  # Pairs that are packed together; more would fill the rows no better.


def choose_widths(lengths):
    """How many tokens a row holds of questions and of answers, so that both sides are full at about the same time.

    Args:
        lengths: Token counts (pairs, 2).

    Returns:
        Integers (2,): multiples of 8, none below the longest text of its side.
    """
    means = lengths.mean(axis=0)
    wanted = np.maximum(WIDTH * means / means.max(), lengths.max(axis=0))
    return (8 * np.ceil(wanted / 8)).astype(int)


def pack(lengths, widths, random):
    """Puts pairs into rows, each into the first row that has room for both its texts.

    Args:
        lengths: Token counts (pairs, 2), none above `widths`.
        widths: Tokens that a row holds of each side, (2,).
        random: NumPy generator of the order in which the pairs come.

    Yields:
        For each row a list of the numbers of its pairs.
    """
    order = random.permutation(len(lengths))
    for i in range(0, len(order), POOL):
        pool = order[i : i + POOL]
        room, opened = np.tile(widths, (len(pool), 1)), []
        for pair in pool:
            fits = (room[: len(opened)] >= lengths[pair]).all(axis=1)
            row = int(fits.argmax()) if fits.any() else len(opened)
            if row == len(opened):
                opened.append([])
            opened[row].append(pair)
            room[row] -= lengths[pair]
        yield from opened
