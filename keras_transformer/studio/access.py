"""Who may use the studio, and what its pages may load: the key, other web pages, and the browser's policy."""

import asyncio
import hmac
import html
import http.cookies
import secrets
import urllib.parse

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from keras_transformer.language import ENGLISH, KOREAN, language_of_context
from keras_transformer.language import translate as _
from keras_transformer.page import STYLE
from keras_transformer.serving.auth import KeyCheck
from keras_transformer.serving.limits import RequestRejected
from keras_transformer.serving.middleware import SECONDS_WRONG_KEY

COOKIE, SIGN_IN = "keras_transformer_studio", "/sign-in"
MOST = 4096  # Bytes of the form.
# Gradio's page needs scripts and styles in the page and compiled templates, but nothing from other hosts.
POLICY = "; ".join([
    "default-src 'self'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'", "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:", "font-src 'self' data:", "worker-src 'self' blob:", "object-src 'none'",
    "base-uri 'self'", "form-action 'self'", "frame-ancestors 'none'",
])  # fmt: skip
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"referrer-policy": b"same-origin",
    b"x-content-type-options": b"nosniff",
}
FORM = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{style}</style></head>
<body><main><h1>{title}</h1><form method="post" action="{action}"><p><label>{label}
<input type="password" name="key" required autofocus autocomplete="current-password"></label>
<button>{button}</button></p><p role="alert">{wrong}</p></form></main></body></html>"""


class Door:
    """ASGI middleware that lets in whom the key or the origin allows.

    A browser gets a form for the key, and then a cookie; a program sends the header `Authorization: Bearer KEY`.

    Args:
        app: The wrapped application.
        key: The key; None for no key.
        origins: The `OriginCheck`.
    """

    def __init__(self, app, key, origins):
        self.app, self.origins = app, origins
        self.key = KeyCheck(key) if key else None
        self.token = secrets.token_urlsafe(32)

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # The page needs no websocket.
        response = await self.refusal(Request(scope, receive), dict(scope["headers"]))
        await (response or self.app)(scope, receive, with_headers(send))

    async def refusal(self, request, headers):
        """Returns the response to a request that does not pass, or None."""
        try:
            self.origins.check(headers)
            if self.key is None or self.is_signed_in(headers):
                return None
            if request.url.path == SIGN_IN:
                return await self.sign_in(request)
            self.key.check(headers.get(b"authorization"))
        except RequestRejected as error:
            if error.status == 401 and request.method == "GET" and b"text/html" in headers.get(b"accept", b""):
                return RedirectResponse(SIGN_IN, 303)
            if b"authorization" in headers:
                await asyncio.sleep(SECONDS_WRONG_KEY)
            return Response(str(error), error.status)
        return None

    def is_signed_in(self, headers):
        """Returns whether a request carries the cookie of a browser that has sent the key."""
        cookies = http.cookies.SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
        return COOKIE in cookies and hmac.compare_digest(cookies[COOKIE].value.encode(), self.token.encode())

    async def sign_in(self, request):
        """Returns the form, or for the right key the way to the page."""
        language, wrong = language_of(request), False
        if request.method == "POST":
            try:
                self.key.check(f"Bearer {await sent_key(request)}".encode())
            except RequestRejected:
                await asyncio.sleep(SECONDS_WRONG_KEY)
                wrong = True
            else:
                response = RedirectResponse("/", 303)
                secure = request.url.scheme == "https"
                response.set_cookie(COOKIE, self.token, httponly=True, samesite="strict", secure=secure)
                return response
        with language_of_context(language):
            return HTMLResponse(sign_in_page(language, wrong), 401 if wrong else 200)


async def sent_key(request):
    """Returns the key that a form has sent; "" if there is none, or the form is too long."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST:
            return ""
    return urllib.parse.parse_qs(body.decode("utf-8", "replace")).get("key", [""])[0].strip()


def sign_in_page(language, wrong):
    """Returns the form for the key."""
    texts = {
        "title": _("keras-transformer studio"),
        "label": _("Key"),
        "button": _("Open"),
        "wrong": _("This is not the key.") if wrong else "",
    }
    escaped = {name: html.escape(text) for name, text in texts.items()}
    return FORM.format(language=language, action=SIGN_IN, style=STYLE.read_text("utf-8"), **escaped)


def language_of(request):
    """Returns the language that a browser prefers: "ko", or else "en"."""
    return KOREAN if request.headers.get("accept-language", "").strip().lower().startswith(KOREAN) else ENGLISH


def with_headers(send):
    """Returns a function that sends messages with the headers of the browser's policy."""

    async def send_with_headers(message):
        if message["type"] == "http.response.start":
            others = [one for one in message["headers"] if one[0].lower() not in HEADERS]
            message = {**message, "headers": [*others, *HEADERS.items()]}
        await send(message)

    return send_with_headers
