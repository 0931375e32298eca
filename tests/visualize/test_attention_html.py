import base64
import hashlib
import json
from html.parser import HTMLParser

import numpy as np
import pytest

from keras_transformer import attention_html

HOSTILE = ("</script><script>alert(1)</script>", "<!--", "<!-- <script>", "$data", "&lt;", '"', "\\", "\u2028")


class Elements(HTMLParser):
    """What a browser finds in a page: elements, their attributes, and the text in them before any other element."""

    def __init__(self, page):
        super().__init__()
        self.found = [["", {}, ""]]
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        self.found.append(["", {}, ""])

    def handle_data(self, data):
        self.found[-1][2] += data

    def all(self, tag):
        return [(attributes, text) for name, attributes, text in self.found if name == tag]


def data_in(page):
    [text] = [text for attributes, text in Elements(page).all("script") if attributes.get("id") == "data"]
    return json.loads(text)


def test_it_holds_tokens_and_weights(make_attended):
    attended = make_attended()
    page = attention_html(attended)
    assert "배고픈데" in page and "먹어요" in page
    data = data_in(page)
    assert data["question"] == ["<start>", "배고픈데", "뭐", "먹지", "?", "<end>"]
    assert data["answer"] == ["밥", "먹어요", ".", "<end>"]
    assert data["decoder_input"] == ["<start>", "밥", "먹어요", "."]
    assert data["partial_answers"] == ["밥", "밥 먹어요", "밥 먹어요.", "밥 먹어요."]
    assert data["question_text"] == "배고픈데 뭐 먹지?"
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(np.array(data["weights"][kind]) / 1000, getattr(attended, kind), atol=0.0005)


def test_no_token_breaks_out(make_attended):
    page = attention_html(make_attended(question=HOSTILE, answer=HOSTILE))
    assert len(Elements(page).all("script")) == 2
    assert "<!--" not in page
    assert data_in(page)["question"] == data_in(page)["answer"] == list(HOSTILE)


def test_it_needs_nothing_beside_it(make_attended):
    elements = Elements(attention_html(make_attended())).found
    addresses = [attributes[name] for _, attributes, _ in elements for name in ("src", "href") if name in attributes]
    assert addresses == ["data:,"]  # Of the icon: without one, browsers ask the server for it.


@pytest.mark.parametrize("tag", ["style", "script"])
def test_its_policy_allows_its_own_style_and_script_alone(make_attended, tag):
    elements = Elements(attention_html(make_attended()))
    [policy] = [meta["content"] for meta, _ in elements.all("meta") if "http-equiv" in meta]
    text = elements.all(tag)[-1][1]
    fingerprint = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"{tag}-src 'sha256-{fingerprint}';" in policy
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy


def test_a_notebook_shows_it_in_a_frame(make_attended):
    page = attention_html(make_attended(question=HOSTILE))
    shown = page._repr_mimebundle_()
    [(frame, _)] = Elements(shown["text/html"]).all("iframe")
    assert frame["srcdoc"] == page
    assert (frame["sandbox"], frame["title"]) == ("allow-scripts", "Attention")
    assert len(shown["text/plain"]) < 40  # The page is not kept twice.
