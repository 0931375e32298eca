"""Common parts of all figures: notebook display, style, and colour-blind safe colours."""

import contextlib

from keras_transformer.errors import import_extra
from keras_transformer.language import translate as _
from keras_transformer.visualize.picture import image

import_extra("matplotlib", "visualize", "a picture")  # Before the imports that need it.

from matplotlib import style  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

from keras_transformer.visualize.fonts import fonts_for  # noqa: E402

COLOURS = ("#0072B2", "#D55E00", "#CC79A7", "#009E73", "#E69F00", "#000000", "#56B4E9")
"""The colour-blind safe palette of Okabe and Ito, without the yellow, which is hard to see on white. Neighbours differ
in greyscale, too."""

LINES = ("-", "--", "-.", ":")
"""Line styles, for printing without colours."""

BASE_STYLE = {
    "axes.axisbelow": True, "axes.edgecolor": "0.5", "axes.grid": True, "axes.spines.right": False,
    "axes.spines.top": False, "axes.titlesize": "medium", "figure.dpi": 150, "font.size": 9, "grid.color": "0.9",
    "legend.frameon": False, "legend.handlelength": 3.5, "xtick.color": "0.3", "ytick.color": "0.3",
}  # fmt: skip


def line_style(i):
    """Returns the colour and line style of the i-th line."""
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": LINES[i % len(LINES)]}


def sample(label, **style):
    """Returns a line for a legend, without axes."""
    return Line2D([], [], label=label, **style)


def name_lines(figure, lines):
    """Adds a legend above the plots; the labels are shown verbatim."""
    for text in figure.legend(handles=lines, loc="outside upper left").get_texts():
        text.set_parse_math(False)  # A folder may be called $a$.


class Picture(Figure):
    """A figure that notebooks display as the value of a cell, with or without pyplot."""

    def _repr_png_(self):
        return image(self, ".png")


@contextlib.contextmanager
def drawing(texts, width, height, layout="constrained"):
    """Context manager for drawing a new `Picture` in the common style, independent of a notebook's own style.

    Args:
        texts: The texts of the figure that may not be Latin, an iterable of strings.
        width: Width in inches.
        height: Height in inches.
        layout: The layout engine of matplotlib.

    Yields:
        The figure.

    Raises:
        InputError: If no installed font has the characters of one of the texts.
    """
    labels = _("attention weight")  # In the same alphabet as the labels of all figures.
    with style.context(["default", BASE_STYLE, {"font.family": fonts_for([*texts, labels])}]):
        yield Picture((width, height), layout=layout)
