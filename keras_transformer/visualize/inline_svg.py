"""Drawn pictures inside an HTML page: in its own font, and in its own colours, be they light or dark."""

import io
import re
from xml.etree import ElementTree

from matplotlib import rc_context

INKS = {
    "#ffffff": "var(--paper)", "#e6e6e6": "var(--grid)", "#808080": "var(--line)", "#4c4c4c": "var(--quiet)",
    "#000000": "var(--ink)",
}  # fmt: skip
"""The greys of `figure.QUIET`, and what stands for them in a page."""

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
UNWANTED = ("metadata", "style")
FONTS = ("font", "font-family")  # The page has its own.


def inline_svg(figure, name, label):
    """A figure as an `svg` element to stand in a page, as wide as there is room.

    Its styles are attributes, which a page's policy need not allow, and which its style sheet may overrule.

    Args:
        figure: A matplotlib `Figure`.
        name: A word that no other picture of the page has; the ids in it begin so.
        label: What it shows, for those who cannot see it.

    Returns:
        Text.
    """
    file = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    for element in list(root.iter()):
        for child in [child for child in element if child.tag.split("}")[1] in UNWANTED]:
            element.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        element.attrib = dict(attributes(element, name))
    # Of the style sheet that was removed; and black, which is not written down where a text has it.
    look = {"stroke-linejoin": "round", "stroke-linecap": "butt", "fill": INKS["#000000"]}
    root.attrib = {"viewBox": root.get("viewBox"), "role": "img", "aria-label": label, **look}
    return ElementTree.tostring(root, encoding="unicode")


def attributes(element, name):
    """Yields the attributes of an element with its styles as such, and with ids that no other picture has."""
    for key, value in element.items():
        if key == "style":
            yield from styles(value)
        elif key == "id":
            yield key, f"{name}-{value}"
        elif key == LINK:
            yield "href", f"#{name}-{value.removeprefix('#')}"
        else:
            yield key, value.replace("url(#", f"url(#{name}-")


def styles(text):
    """Yields the properties of a style, less the font."""
    for declaration in filter(str.strip, text.split(";")):
        key, value = map(str.strip, declaration.split(":", 1))
        if key == "font" and (size := re.search(r"[\d.]+px", value)):  # As Matplotlib wrote it before 3.11.
            yield "font-size", size[0]
        if key not in FONTS:
            yield key, INKS.get(value, value)
