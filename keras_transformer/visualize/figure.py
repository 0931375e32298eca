"""What drawn pictures begin with: a figure that notebooks show, its style, and colours that everybody tells apart."""

import contextlib

from keras_transformer.visualize.picture import image, missing

try:
    from matplotlib import style
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from keras_transformer.visualize.fonts import fonts_for
except ImportError as error:
    raise missing(error) from error

COLOURS = ("#0072B2", "#D55E00", "#CC79A7", "#009E73", "#E69F00", "#000000", "#56B4E9")
"""Those of Okabe and Ito, which colour-blind eyes tell apart, less the yellow, which white paper swallows; neighbours
differ as greys too."""

LINES = ("-", "--", "-.", ":")
"""Styles of lines, for paper without colours."""

QUIET = {
    "axes.axisbelow": True, "axes.edgecolor": "0.5", "axes.grid": True, "axes.spines.right": False,
    "axes.spines.top": False, "axes.titlesize": "medium", "figure.dpi": 150, "font.size": 9, "grid.color": "0.9",
    "legend.frameon": False, "legend.handlelength": 3.5, "xtick.color": "0.3", "ytick.color": "0.3",
}  # fmt: skip


def line_style(i):
    """How the i-th of several lines is drawn, so that it is no other's."""
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": LINES[i % len(LINES)]}


def sample(label, **style):
    """A line for a legend that no axes hold."""
    return Line2D([], [], label=label, **style)


def name_lines(figure, lines):
    """Says above all else what lines are, by their labels, whatever signs these have."""
    for text in figure.legend(handles=lines, loc="outside upper left").get_texts():
        text.set_parse_math(False)  # A folder may be called $a$.


class Picture(Figure):
    """A figure that a notebook shows where it is the value of a cell, whether pyplot is in use or not."""

    def _repr_png_(self):
        return image(self, ".png")


@contextlib.contextmanager
def drawing(texts, width, height, layout="constrained"):
    """A new `Picture`, and the style to draw it in, whatever style a notebook has for its own figures.

    Args:
        texts: Those that the picture will hold and that may not be Latin, an iterable of strings.
        width: In inches.
        height: In inches.
        layout: How matplotlib finds room for the parts.

    Yields:
        The figure.

    Raises:
        InputError: If no installed font can draw one of the texts.
    """
    with style.context(["default", QUIET, {"font.family": fonts_for(texts)}]):
        yield Picture((width, height), layout=layout)
