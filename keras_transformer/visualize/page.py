"""Web pages of one file, and pictures in them."""

import base64
import hashlib
import html
import io
import pathlib
import re
from xml.etree import ElementTree

from matplotlib import rc_context

STYLE = pathlib.Path(__file__).with_name("page.css")


class Page(str):
    """An HTML page as text, which a notebook shows in a frame, where the two do not disturb each other.

    Args:
        text: The page.
        title: What the frame is called.
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


def policy(style, script=None):
    """A Content Security Policy: the browser neither asks a server for anything nor runs what might come with a text.

    Args:
        style: The one style that it allows.
        script: The one script that it allows; None for none at all.
    """
    scripts = f"'{fingerprint(script)}'" if script else "'none'"
    return "; ".join([
        "default-src 'none'", f"style-src '{fingerprint(style)}'", f"script-src {scripts}", "img-src data:",
        "base-uri 'none'", "form-action 'none'",
    ])  # fmt: skip


def fingerprint(text):
    """How such a policy names a style or a script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


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
