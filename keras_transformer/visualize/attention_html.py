"""Attention as an interactive page: one self-contained HTML file."""

from __future__ import annotations

import json
import pathlib
import string
from typing import TYPE_CHECKING, Literal

import numpy as np

from keras_transformer.page import STYLE, policy
from keras_transformer.visualize.attention import KINDS
from keras_transformer.visualize.page import Page

if TYPE_CHECKING:
    from keras_transformer.chat.attention_trace import AttentionTrace

FOLDER = pathlib.Path(__file__).with_name("attention_page")


def attention_html(trace: AttentionTrace, language: Literal["en", "ko"] | None = None) -> Page:
    """Creates an interactive page with all attention weights of an answer, by kind, layer, head and token.

    Args:
        trace: The `AttentionTrace` that `trace_attention` returned.
        language: Language in which the page opens; None for that of the browser.

    Returns:
        The page, a self-contained `Page`, which is a string that notebooks display.
    """
    style = STYLE.read_text(encoding="utf-8") + read("page.css")
    script = read("words.js") + read("page.js")
    parts = {"policy": policy(style, script), "style": style, "script": script, "data": data_of(trace, language)}
    return Page(string.Template(read("page.html")).substitute(parts), "Attention")


def data_of(trace, language=None):
    """Returns the data of the page's script as JSON, with "<" escaped so that tokens cannot inject HTML."""
    data = {
        "language": language,
        "question_text": trace.question_text,
        "question": trace.question,
        "answer": trace.answer,
        "decoder_input": trace.decoder_input,
        "partial_answers": trace.partial_answers,
        "weights": {kind: thousandths(getattr(trace, kind)) for kind in KINDS},
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", r"\u003c")


def thousandths(weights):
    """Returns weights in thousandths, as nested lists of integers: compact, and as precise as the page shows them."""
    return np.rint(1000 * weights).astype(int).tolist()


def read(name):
    """Reads a file of the page."""
    return (FOLDER / name).read_text(encoding="utf-8")
