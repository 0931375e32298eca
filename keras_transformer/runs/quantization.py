"""8-bit weight quantization: integers from -127 to 127, with a scale for each row or column of a matrix.

Each output of a layer and each token's logit has its own scale, so that one large weight does not reduce the precision
of all others.
"""

import numpy as np

SCALE = "/scale"  # Suffix of the names of a matrix's scales.
TABLES = "table"  # Suffix of the names of embedding tables, which have scales per row; others have scales per column.
LARGEST = 127


def quantized(weights):
    """Quantizes matrices to int8. Vectors, which are small, are unchanged.

    Args:
        weights: Arrays by the paths of their variables.

    Returns:
        A dictionary with an int8 array and float32 scales for each matrix; their product approximates the matrix.
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
    """Converts the result of `quantized` back to float32 arrays by the paths of their variables."""
    return {
        path: value * tensors[path + SCALE] if path + SCALE in tensors else value
        for path, value in tensors.items()
        if not path.endswith(SCALE)
    }
