"""The positional encoding as a heat map (section 3.5)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from keras import ops

from keras_transformer.config import check_number
from keras_transformer.language import translate as _
from keras_transformer.layers.positional_encoding import PositionalEncoding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMULA = (
    r"$PE_{(pos,\,2i)} = \sin(pos / 10000^{2i/d_{model}})$"
    "\n"
    r"$PE_{(pos,\,2i+1)} = \cos(pos / 10000^{2i/d_{model}})$"
)


def plot_position_encoding(position: int = 50, d_model: int = 128) -> Figure:
    """Plots the table of `PositionalEncoding`, with a row for each position and a column for each dimension.

    Args:
        position: Number of positions.
        d_model: Number of dimensions; even ones are sines, odd ones cosines.

    Returns:
        A matplotlib `Figure`.

    Raises:
        InputError: If an argument is not an integer of at least 1.
    """
    from keras_transformer.visualize.figure import drawing

    for name, value in (("position", position), ("d_model", d_model)):
        check_number(name, value, int, 1, math.inf)
    table = ops.convert_to_numpy(PositionalEncoding(position, d_model).pos_encoding[0])
    with drawing([], 8, 4.5) as figure:
        axes = figure.subplots()
        image = axes.imshow(table, cmap="RdBu", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.set(
            title=FORMULA,
            xlabel=_("dimension: even ones 2i are sines, odd ones 2i + 1 cosines"),
            ylabel=_("position pos"),
        )
        figure.colorbar(image, label=_("value added to the embedding"), ticks=(-1, -0.5, 0, 0.5, 1))
    return figure
