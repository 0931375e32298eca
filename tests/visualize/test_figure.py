import io
import itertools

import matplotlib
import numpy as np
from IPython.core.formatters import DisplayFormatter
from matplotlib.colors import to_hex, to_rgb
from PIL import Image

from keras_transformer.visualize.figure import COLOURS, drawing
from keras_transformer.visualize.picture import image

DARK = {"figure.facecolor": "black", "axes.facecolor": "black", "xtick.color": "white", "savefig.facecolor": "black"}


def test_a_notebook_shows_it_without_pyplot():
    with drawing([], 1, 1) as figure:
        figure.subplots()
    data, _ = DisplayFormatter().format(figure)
    assert data["image/png"].startswith(b"\x89PNG")


def test_a_notebooks_own_style_neither_shows_nor_changes():
    with matplotlib.rc_context(DARK):
        with drawing([], 2, 2) as figure:
            axes = figure.subplots()
        assert {matplotlib.rcParams[name] for name in DARK} == {"black", "white"}
        assert to_hex(figure.get_facecolor()) == to_hex(axes.get_facecolor()) == "#ffffff"
        assert {to_hex(label.get_color()) for label in axes.get_xticklabels()} == {"#4c4c4c"}
        picture = np.asarray(Image.open(io.BytesIO(image(figure, ".png"))))
    assert picture[0, 0].tolist() == [255, 255, 255, 255]


def test_korean_is_drawn():
    with drawing(["실행"], 1, 1) as figure:  # A missing glyph would warn.
        text = figure.text(0.5, 0.5, "실행")
    assert len(text.get_fontfamily()) == 2


def test_neighbouring_colours_differ_as_greys():
    reds, greens, blues = zip(*map(to_rgb, COLOURS))
    greys = [0.299 * red + 0.587 * green + 0.114 * blue for red, green, blue in zip(reds, greens, blues)]
    assert min(abs(one - other) for one, other in itertools.pairwise(greys)) > 0.1
