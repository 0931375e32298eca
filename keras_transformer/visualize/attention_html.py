"""Attention as a page to look around in: one HTML file that needs neither a network nor anything beside it."""

import json
import pathlib
import string

import numpy as np

from keras_transformer.visualize.attention import KINDS
from keras_transformer.visualize.page import STYLE, Page, policy

FOLDER = pathlib.Path(__file__).with_name("attention_page")


def attention_html(attended):
    """A page that shows all attention weights of an answer: by kind, layer and head, token by token.

    Args:
        attended: What `trace_attention` returned.

    Returns:
        The page, a string. It is whole in itself, and a notebook shows it.
    """
    style = STYLE.read_text(encoding="utf-8") + read("page.css")
    script = read("words.js") + read("page.js")
    parts = {"policy": policy(style, script), "style": style, "script": script, "data": data_of(attended)}
    return Page(string.Template(read("page.html")).substitute(parts), "Attention")


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


def read(name):
    """A file of the page."""
    return (FOLDER / name).read_text(encoding="utf-8")
