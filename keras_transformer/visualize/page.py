"""What HTML pages have in common: each is one file that needs neither a network nor anything beside it, of one look."""

import base64
import hashlib
import html
import pathlib

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
