"""Attention as a picture: for each head a matrix of who looks at what."""

import math
import unicodedata

from keras_transformer.errors import InputError

KINDS = {
    "cross": ("Cross-attention", "the answer looks …", "… at the question"),
    "encoder": ("Encoder self-attention", "the question looks …", "… at itself"),
    "decoder": ("Decoder self-attention", "the answer looks …", "… at itself so far"),
}
"""The kinds of attention (section 3.2.3): their names, and what rows and columns are."""

BESIDE = 4  # Heads in a line at most.
SIDE, CELLS = 3.6, (0.14, 0.26)  # Inches of a matrix, as far as its cells are neither smaller nor larger than these.
LEAST = (3, 2.6)  # Inches of a picture, for its title and its labels.
POINTS = 72  # An inch.


def plot_attention(attended, kind="cross", layer=None, heads=None):
    """Draws attention weights: for each head a matrix, a row for each token that looks, a column for each looked at.

    Args:
        attended: What `trace_attention` returned.
        kind: "cross" (the answer looks at the question), "encoder" (the question at itself) or "decoder" (the answer
            at itself, as far as it was written).
        layer: The layer's number, from 1; None for the last.
        heads: A list of heads' numbers, from 1; None for all.

    Returns:
        A matplotlib `Figure`.

    Raises:
        InputError: If there is no such kind, layer or head, or no installed font has a token's characters.
    """
    from keras_transformer.visualize.figure import drawing

    if kind not in KINDS:
        raise InputError(f"there is no attention of kind {kind!r}, but of {', '.join(map(repr, KINDS))}")
    title, looks, looked_at = KINDS[kind]
    rows, columns = tokens_of(attended, kind)
    weights = getattr(attended, kind)
    layers, count = weights.shape[:2]
    layer = numbered("layer", layers if layer is None else layer, layers)
    heads = [numbered("head", head, count) for head in heads or range(1, count + 1)]
    lines = math.ceil(len(heads) / BESIDE)
    beside = math.ceil(len(heads) / lines)
    cell = min(max(SIDE / max(len(rows), len(columns)), CELLS[0]), CELLS[1])
    with drawing([*rows, *columns], *size(lines, beside, cell, rows, columns), layout="compressed") as figure:
        figure.suptitle(f"{title}, layer {layer} of {layers}")
        panels = list(figure.subplots(lines, beside, squeeze=False).flat)
        while len(panels) > len(heads):
            panels.pop().remove()
        draw(figure, panels, {f"head {head}": weights[layer - 1, head - 1] for head in heads})
        for panel in panels[::beside]:
            panel.set_ylabel(looks)
            write_tokens(panel.yaxis, rows, cell)
        for panel in panels[-beside:]:
            panel.set_xlabel(looked_at)
            write_tokens(panel.xaxis, columns, cell, rotation=90, rotation_mode="anchor", ha="right")
    return figure


def numbered(what, number, count):
    """The number of one of so many layers or heads, as it is; raises `InputError` if there is none of that number."""
    if not 1 <= number <= count:
        raise InputError(f"there is no {what} {number}: {what}s are numbered from 1 to {count}")
    return number


def tokens_of(attended, kind):
    """The tokens that look, and those that they look at."""
    looking = attended.question if kind == "encoder" else attended.answer
    return looking, attended.read if kind == "decoder" else attended.question


def size(lines, beside, cell, rows, columns):
    """Inches of a picture, wide and high: its cells, the tokens beside and below them, room for the labels."""
    left, below = (max(map(ems, tokens)) * font_size(cell) / POINTS for tokens in (rows, columns))
    wide = left + beside * (cell * len(columns) + 0.15) + 1.2
    high = below + lines * (cell * len(rows) + 0.3) + 0.6
    return max(wide, LEAST[0]), max(high, LEAST[1])


def ems(text):
    """About how long a text is, in its font's size: Hangul is as wide as high."""
    return sum(1 if unicodedata.east_asian_width(sign) in "WF" else 0.65 for sign in text)


def font_size(cell):
    """Points of the text beside a cell, so that it does not touch the next."""
    return min(0.75 * cell * POINTS, 9)


def draw(figure, panels, matrices):
    """Draws titled matrices on one scale of colours, whose lightness alone tells them apart, and a bar of the scale."""
    top = max(matrix.max() for matrix in matrices.values())
    for panel, (title, matrix) in zip(panels, matrices.items()):
        mesh = panel.pcolormesh(matrix, cmap="viridis", vmin=0, vmax=top, edgecolors="white", linewidth=0.3)
        panel.set(title=title, aspect="equal", xticks=[], yticks=[])
        panel.grid(False)
        panel.spines[:].set_visible(False)
        panel.invert_yaxis()  # The first row is at the top.
    slender = 6 * figure.get_figheight()  # About a sixth of an inch.
    bar = figure.colorbar(mesh, ax=panels, label="attention weight", pad=0.02, aspect=slender)
    bar.outline.set_visible(False)


def write_tokens(axis, tokens, cell, **style):
    """Writes tokens beside the cells as they are: a "$" begins no formula."""
    style = {"fontsize": font_size(cell), "va": "center_baseline", "parse_math": False, "color": "0.1", **style}
    axis.set_ticks([place + 0.5 for place in range(len(tokens))], tokens, **style)
    axis.set_tick_params(length=0)
