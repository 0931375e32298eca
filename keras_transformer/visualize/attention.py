"""Attention maps: a matrix of attention weights for each head."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from keras_transformer.chat.attention_trace import AttentionTrace

ANSWER, QUESTION = translatable("answer (queries)"), translatable("question (queries)")
KINDS = {
    "cross": (translatable("Cross-attention"), ANSWER, translatable("question (keys)")),
    "encoder": (translatable("Encoder self-attention"), QUESTION, translatable("question (keys)")),
    "decoder": (translatable("Decoder self-attention"), ANSWER, translatable("answer so far (keys)")),
}
"""The kinds of attention (section 3.2.3): their names, and the labels of rows and columns."""

PANELS_PER_LINE = 4  # Maximum number of heads per line.
SIDE, CELLS = 3.6, (0.14, 0.26)  # Target size of a matrix, and minimum and maximum size of a cell, in inches.
LEAST = (3, 2.6)  # Minimum size of a figure in inches, for its title and its labels.
POINTS = 72  # Points per inch.


def plot_attention(
    trace: AttentionTrace, kind: str = "cross", layer: int | None = None, heads: Sequence[int] | None = None
) -> Figure:
    """Plots attention weights as a matrix for each head, with a row for each query token and a column for each key.

    Args:
        trace: The `AttentionTrace` that `trace_attention` returned.
        kind: "cross" (from the answer to the question), "encoder" (within the question) or "decoder" (within the
            answer).
        layer: Number of the layer, from 1; None for the last.
        heads: List of numbers of heads, from 1; None for all.

    Returns:
        A matplotlib `Figure`.

    Raises:
        InputError: If there is no such kind, layer or head, or no installed font has the characters of a token.
    """
    from keras_transformer.visualize.figure import drawing

    if kind not in KINDS:
        raise InputError(
            _("unknown kind of attention {kind!r}: choose one of {kinds}", kind=kind, kinds=", ".join(map(repr, KINDS)))
        )
    title, row_label, column_label = map(_, KINDS[kind])
    rows, columns = tokens_of(trace, kind)
    weights = getattr(trace, kind)
    layers, count = weights.shape[:2]
    layer = numbered("layer", layers if layer is None else layer, layers)
    heads = [numbered("head", head, count) for head in heads or range(1, count + 1)]
    lines = math.ceil(len(heads) / PANELS_PER_LINE)
    per_line = math.ceil(len(heads) / lines)
    cell = min(max(SIDE / max(len(rows), len(columns)), CELLS[0]), CELLS[1])
    with drawing([*rows, *columns], *size(lines, per_line, cell, rows, columns), layout="compressed") as figure:
        figure.suptitle(_("{title}, layer {layer} of {layers}", title=title, layer=layer, layers=layers))
        panels = list(figure.subplots(lines, per_line, squeeze=False).flat)
        while len(panels) > len(heads):
            panels.pop().remove()
        draw(figure, panels, {_("head {head}", head=head): weights[layer - 1, head - 1] for head in heads})
        for panel in panels[::per_line]:
            panel.set_ylabel(row_label)
            write_tokens(panel.yaxis, rows, cell)
        for panel in panels[-per_line:]:
            panel.set_xlabel(column_label)
            write_tokens(panel.xaxis, columns, cell, rotation=90, rotation_mode="anchor", ha="right")
    return figure


def numbered(what, number, count):
    """Returns the number of a layer or head; raises `InputError` if it is not between 1 and `count`."""
    if not 1 <= number <= count:
        raise InputError(
            _(
                "there is no {what} {number}: {what}s are numbered from 1 to {count}",
                what=what,
                number=number,
                count=count,
            )
        )
    return number


def tokens_of(trace, kind):
    """Returns the tokens of the rows (queries) and of the columns (keys)."""
    queries = trace.question if kind == "encoder" else trace.answer
    return queries, trace.decoder_input if kind == "decoder" else trace.question


def size(lines: int, per_line: int, cell: float, rows: Sequence[str], columns: Sequence[str]) -> tuple[float, float]:
    """Returns the width and height of the figure in inches, with room for cells, tokens and labels."""
    left, below = (max(map(ems, tokens)) * font_size(cell) / POINTS for tokens in (rows, columns))
    width = left + per_line * (cell * len(columns) + 0.15) + 1.2
    height = below + lines * (cell * len(rows) + 0.3) + 0.6
    return max(width, LEAST[0]), max(height, LEAST[1])


def ems(text):
    """Returns the approximate width of a text in ems; Hangul is one em wide."""
    return sum(1 if unicodedata.east_asian_width(sign) in "WF" else 0.65 for sign in text)


def font_size(cell):
    """Returns the font size in points of the tokens, small enough that neighbours do not overlap."""
    return min(0.75 * cell * POINTS, 9)


def draw(figure, panels, matrices):
    """Draws titled matrices with a common colour bar; the colours differ in lightness, to be readable in greyscale."""
    top = max(matrix.max() for matrix in matrices.values())
    for panel, (title, matrix) in zip(panels, matrices.items()):
        mesh = panel.pcolormesh(matrix, cmap="viridis", vmin=0, vmax=top, edgecolors="white", linewidth=0.3)
        panel.set(title=title, aspect="equal", xticks=[], yticks=[])
        panel.grid(False)
        panel.spines[:].set_visible(False)
        panel.invert_yaxis()  # The first row is at the top.
    aspect = 6 * figure.get_figheight()  # Makes the bar about a sixth of an inch wide.
    bar = figure.colorbar(mesh, ax=panels, label=_("attention weight"), pad=0.02, aspect=aspect)
    bar.outline.set_visible(False)


def write_tokens(axis, tokens, cell, **style):
    """Labels the cells with tokens, verbatim: a "$" does not start a formula."""
    style = {"fontsize": font_size(cell), "va": "center_baseline", "parse_math": False, "color": "0.1", **style}
    axis.set_ticks([place + 0.5 for place in range(len(tokens))], tokens, **style)
    axis.set_tick_params(length=0)
