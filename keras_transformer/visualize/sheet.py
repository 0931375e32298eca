"""A sheet of paper for diagrams: boxes, arrows and text, in inches from its lower left corner."""

from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

INK = "0.25"
LINES, SHAPES, TOP = 2, 3, 4  # What lies on what.


class Sheet:
    """What a diagram is drawn on.

    Args:
        figure: A matplotlib `Figure`, which it fills.
    """

    def __init__(self, figure):
        width, height = figure.get_size_inches()
        self.axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
        self.axes.set_axis_off()

    def write(self, x, y, text, **style):
        """Writes a text around a point."""
        self.axes.text(x, y, text, **{"ha": "center", "va": "center", "linespacing": 1.4, "zorder": TOP, **style})

    def box(self, x, y, width, height, colour, **style):
        """Draws a box with round corners; x is its middle, y its lower side."""
        shape = "round,pad=0,rounding_size=0.07"
        style = {"facecolor": colour, "edgecolor": INK, "zorder": SHAPES, **style}
        self.axes.add_patch(FancyBboxPatch((x - width / 2, y), width, height, shape, **style))

    def circle(self, x, y, radius):
        """Draws a white circle."""
        self.axes.add_patch(Circle((x, y), radius, facecolor="white", edgecolor=INK, zorder=SHAPES))

    def line(self, *points, over=False):
        """Draws a line through some points, over the shapes if asked."""
        self.axes.plot(*zip(*points), color=INK, linewidth=1, zorder=TOP if over else LINES)

    def arrow(self, *points):
        """Draws a line through some points with a head at the last."""
        style = {"arrowstyle": "-|>,head_length=3,head_width=1.6", "joinstyle": "miter", "shrinkA": 0, "shrinkB": 0}
        self.axes.add_patch(FancyArrowPatch(path=Path(points), color=INK, zorder=LINES, **style))
