"""Attention as a page to look around in: one HTML file that needs neither a network nor anything beside it."""

import base64
import hashlib
import html
import json
import pathlib
import string

import numpy as np

from keras_transformer.visualize.attention import KINDS

PAGE = pathlib.Path(__file__).with_name("attention_page")
POLICY = "; ".join([
    "default-src 'none'", "style-src '{style}'", "script-src '{script}'", "img-src data:", "base-uri 'none'",
    "form-action 'none'",
])  # fmt: skip
"""What the browser lets the page do: neither ask a server for anything nor run what might come with a token."""


class Page(str):
    """An HTML page as text, which a notebook shows in a frame, where the two do not disturb each other."""

    def _repr_mimebundle_(self, include=None, exclude=None):
        style = "width: 100%; height: 52rem; border: 1px solid #8888; resize: vertical"
        frame = (
            f'<iframe srcdoc="{html.escape(self)}" sandbox="allow-scripts" title="Attention" style="{style}"></iframe>'
        )
        return {"text/html": frame, "text/plain": f"an HTML page of {len(self.encode()):,} bytes"}


def attention_html(attended):
    """A page that shows all attention weights of an answer: by kind, layer and head, token by token.

    Args:
        attended: What `attend` returned.

    Returns:
        The page, a string. It is whole in itself, and a notebook shows it.
    """
    style = read("page.css")
    script = read("words.js") + read("page.js")
    policy = POLICY.format(style=fingerprint(style), script=fingerprint(script))
    template = string.Template(read("page.html"))
    return Page(template.substitute(policy=policy, style=style, script=script, data=data_of(attended)))


def data_of(attended):
    """What the page's script reads, as JSON that can stand in HTML: no "<" of a token ends or opens anything there."""
    data = {
        "asked": attended.asked,
        "question": attended.question,
        "answer": attended.answer,
        "read": attended.read,
        "written": attended.written,
        "weights": {kind: thousandths(getattr(attended, kind)) for kind in KINDS},
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", r"\u003c")


def thousandths(weights):
    """Nested lists of whole numbers, which are short to write and as exact as the page shows them."""
    return np.rint(1000 * weights).astype(int).tolist()


def fingerprint(text):
    """How a Content Security Policy names the one style or script that it allows."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def read(name):
    """A file of the page."""
    return (PAGE / name).read_text(encoding="utf-8")
