"""Self-contained HTML pages, and inline SVG figures for them."""

import html
import io
import re
from xml.etree import ElementTree


class Page(str):
    """An HTML page as a string. Notebooks display it in a frame, isolated from their own styles and scripts.

    Args:
        text: The HTML text.
        title: The title of the frame.
    """

    def __new__(cls, text, title):
        page = super().__new__(cls, text)
        page.title = title
        return page

    def _repr_mimebundle_(self, include=None, exclude=None):
        style = "width: 100%; height: 52rem; border: 1px solid #8888; resize: vertical"
        frame = (
            f'<iframe srcdoc="{html.escape(self)}" sandbox="allow-scripts" title="{html.escape(self.title)}" '
            f'style="{style}"></iframe>'
        )
        return {"text/html": frame, "text/plain": f"an HTML page of {len(self.encode()):,} bytes"}


INKS = {
    "#ffffff": "var(--paper)", "#e6e6e6": "var(--grid)", "#808080": "var(--line)", "#4c4c4c": "var(--quiet)",
    "#000000": "var(--ink)",
}  # fmt: skip
"""The greys of `figure.BASE_STYLE` and the CSS variables that replace them."""

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
UNWANTED = ("metadata", "style")
FONTS = ("font", "font-family")  # Removed, because the page sets its own font.


def inline_svg(figure, name, label):
    """Returns a figure as an inline `svg` element that scales to the available width.

    Its styles become attributes, which need no permission in the page's policy and can be overridden by a style sheet.

    Args:
        figure: A matplotlib `Figure`.
        name: A prefix for the ids of the element, unique within the page.
        label: The accessible label of the figure.

    Returns:
        The element as a string.
    """
    from matplotlib import rc_context

    file = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())  # noqa: S314 (our own)
    for element in list(root.iter()):
        for child in [child for child in element if child.tag.split("}")[1] in UNWANTED]:
            element.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        element.attrib = dict(attributes(element, name))
    # These come from the removed style sheet; black is the default of texts, which matplotlib does not write.
    look = {"stroke-linejoin": "round", "stroke-linecap": "butt", "fill": INKS["#000000"]}
    root.attrib = {"viewBox": root.get("viewBox"), "role": "img", "aria-label": label, **look}
    return ElementTree.tostring(root, encoding="unicode")


def attributes(element, name):
    """Yields the attributes of an element, with its styles as attributes and its ids prefixed with `name`."""
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
    """Yields the properties of a style, without the font."""
    for declaration in filter(str.strip, text.split(";")):
        key, value = map(str.strip, declaration.split(":", 1))
        if key == "font" and (size := re.search(r"[\d.]+px", value)):  # As Matplotlib wrote it before 3.11.
            yield "font-size", size[0]
        if key not in FONTS:
            yield key, INKS.get(value, value)
