"""Building blocks of the Transformer (section 3) as Keras layers, written in `keras.ops` only."""

from typing import Any, TypeAlias

Tensor: TypeAlias = Any
"""A tensor of the backend, or anything that `keras.ops` converts to one. Shapes are in the docstrings."""
