"""The common style of self-contained HTML pages, and the policy that keeps them from loading anything."""

import base64
import hashlib
import pathlib

STYLE = pathlib.Path(__file__).with_name("page.css")


def policy(style, script=None):
    """Returns a Content Security Policy that forbids network access and all styles and scripts but the given ones.

    Args:
        style: The text of the allowed style.
        script: The text of the allowed script; None to allow none.
    """
    scripts = f"'{fingerprint(script)}'" if script else "'none'"
    return "; ".join([
        "default-src 'none'", f"style-src '{fingerprint(style)}'", f"script-src {scripts}", "img-src data:",
        "base-uri 'none'", "form-action 'none'",
    ])  # fmt: skip


def fingerprint(text):
    """Returns the hash of a style or a script for a Content Security Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
