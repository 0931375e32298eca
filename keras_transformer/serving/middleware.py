"""Middleware that checks requests: rate limit, API key or origin, content type, body size."""

import asyncio
import time

from keras_transformer.serving.auth import KeyCheck
from keras_transformer.serving.errors import refusal
from keras_transformer.serving.limits import MAX_BODY, Rate, RequestRejected
from keras_transformer.serving.logs import LOG

SECONDS_WRONG_KEY = 1.0  # Delay of the response to a wrong key, so that guessing takes long.
OPEN = ("/", "/health", "/docs", "/openapi.json")  # Require no key, because they reveal nothing about the model.


class Gate:
    """ASGI middleware that passes requests on or rejects them.

    Args:
        app: The wrapped application.
        rate: Rate limit in requests per second and client; 0 for no limit.
        key: The API key that clients must send; None for no key.
        origins: The `OriginCheck`; None if any web page may send requests, because it must know the key.
    """

    def __init__(self, app, rate, key, origins=None):
        self.app, self.origins = app, origins
        self.rate = Rate(rate) if rate else None
        self.key = KeyCheck(key) if key else None

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        try:
            self.check(scope, headers)
            body = await read_body(receive, int(headers.get(b"content-length", 0)))
        except RequestRejected as error:
            if error.status == 401 and b"authorization" in headers:
                LOG.warning("a wrong API key was sent from %r", scope["client"][0])
                await asyncio.sleep(SECONDS_WRONG_KEY)
            await refusal(scope["path"], error)(scope, receive, send)
            return
        if body is not None:
            await call_while_connected(self.app, scope, body, receive, send)

    def check(self, scope, headers):
        """Raises `RequestRejected` if the client or its request is not allowed."""
        path = scope["path"]
        if path == "/health":
            return
        if self.rate:
            self.rate.check(scope["client"][0], time.monotonic())
        if self.key and path not in OPEN and not path.startswith("/docs/"):
            self.key.check(headers.get(b"authorization"))
        if self.origins:
            self.origins.check(headers)
        if scope["method"] == "POST":
            check_content_type(headers.get(b"content-type", b""))


def check_content_type(value):
    """Raises `RequestRejected` unless a body is declared as JSON.

    Web pages may send forms and plain text to other servers unasked, but JSON only if that server allows it.
    """
    kind = value.partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise RequestRejected(415, "the request is not declared JSON: send the header Content-Type: application/json")


async def read_body(receive, announced):
    """Reads the body of a request.

    Args:
        receive: The ASGI `receive` function.
        announced: The content length that the client declares.

    Returns:
        The body as bytes; None if the client has disconnected.

    Raises:
        RequestRejected: If the body is too large.
    """
    body, more = bytearray(), True
    while max(announced, len(body)) <= MAX_BODY:
        if not more:
            return bytes(body)
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    raise RequestRejected(413, f"the request is too large: at most {MAX_BODY} bytes are allowed", Connection="close")


async def call_while_connected(app, scope, body, receive, send):
    """Calls an application with the body of a request, and cancels it if the client leaves before the response starts.

    An application that has started to respond learns from its `receive` that the client has left.
    """
    messages, left, started = [{"type": "http.request", "body": body}], asyncio.Event(), False

    async def read():
        if messages:
            return messages.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def write(message):
        nonlocal started
        started = True
        await send(message)

    async def watch():
        while (await receive())["type"] != "http.disconnect":
            pass
        left.set()
        if not started:
            answering.cancel()

    answering, watching = asyncio.create_task(app(scope, read, write)), asyncio.create_task(watch())
    try:
        await answering
    except asyncio.CancelledError:
        if not left.is_set():  # The server stops.
            raise
    finally:
        watching.cancel()
