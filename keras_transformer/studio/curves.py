"""Curves of a training as an SVG picture, which takes its colors from the page."""

import html
import math

from keras_transformer.language import translate as _

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 36  # Margins.
TICKS = 5


def curves_svg(curves):
    """Returns the curves of numbers by epoch as an SVG picture with axes and a legend; "" without an epoch.

    Args:
        curves: Dictionary from names to lists of pairs (epoch, number).
    """
    points = [point for curve in curves.values() for point in curve if math.isfinite(point[1])]
    if not points:
        return ""
    last, most = max(2, *(epoch for epoch, _ in points)), max(number for _, number in points) or 1
    across, up = (WIDTH - LEFT - RIGHT) / (last - 1), (HEIGHT - TOP - BOTTOM) / most

    def place(epoch, number):
        return f"{LEFT + (epoch - 1) * across:.1f},{HEIGHT - BOTTOM - number * up:.1f}"

    parts = [grid(last, most, place)]
    legend = []
    for number, (name, curve) in enumerate(curves.items(), 1):
        line = " ".join(place(*point) for point in curve if math.isfinite(point[1]))
        parts.append(f'<polyline class="curve-{number}" points="{line}"/>')
        latest = f"{curve[-1][1]:.3f}" if curve else ""
        legend.append(f'<span class="curve-{number}">{html.escape(name)} {latest}</span>')
    title = html.escape(_("Loss after each epoch"))
    return (
        f'<figure class="curves"><figcaption>{title}: {", ".join(legend)}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">{"".join(parts)}</svg></figure>'
    )


def grid(last, most, place):
    """Returns the axes with their numbers."""
    parts = []
    for tick in range(TICKS):
        number = most * tick / (TICKS - 1)
        (left, y), (right, _y) = (place(epoch, number).split(",") for epoch in (1, last))
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y}" text-anchor="end" dominant-baseline="middle">{number:.3g}</text>')
    for epoch in dict.fromkeys(round(1 + (last - 1) * tick / (TICKS - 1)) for tick in range(TICKS)):
        x = place(epoch, 0).partition(",")[0]
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{epoch}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{html.escape(_("epoch"))}</text>')
    return "".join(parts)
