"""Matrices in eight bits: whole numbers from -127 to 127, and a scale for each row or column.

What is a sum over many entries, an output of a layer or a token's logit, has a scale of its own, so that one large
weight does not coarsen all others.
"""

import numpy as np

SCALE = "/scale"  # Ends the name of the scales that belong to a matrix.
TABLES = "table"  # The name of matrices with a row for each token; others have a column for each output.
LARGEST = 127


def quantized(weights):
    """Rounds matrices; vectors, which are few numbers, stay as they are.

    Args:
        weights: Arrays by the paths of their variables.

    Returns:
        The same with int8 in place of each matrix, and its float32 scales beside it; a matrix is the product of both.
    """
    tensors = {}
    for path, value in weights.items():
        if value.ndim != 2:
            tensors[path] = value
            continue
        largest = np.abs(value).max(axis=-1 if path.endswith(TABLES) else 0, keepdims=True)
        scale = np.where(largest > 0, largest, 1).astype("float32") / LARGEST
        tensors[path] = np.round(value / scale).astype("int8")
        tensors[path + SCALE] = scale
    return tensors


def dequantized(tensors):
    """The float32 arrays by the paths of their variables that `quantized` rounded; others as they are."""
    return {
        path: value * tensors[path + SCALE] if path + SCALE in tensors else value
        for path, value in tensors.items()
        if not path.endswith(SCALE)
    }
