"""Middleware that checks requests: rate limit, API key, body size."""

import time

from keras_transformer.serving.auth import KeyCheck
from keras_transformer.serving.errors import refusal
from keras_transformer.serving.limits import MAX_BODY, Rate, RequestRejected

OPEN = ("/health", "/docs", "/openapi.json")  # Require no key, because they reveal nothing about the model.


class Gate:
    """ASGI middleware that passes requests on or rejects them.

    Args:
        app: The wrapped application. Bodies are passed to it as JSON, whatever their content type: `curl --data`, which
            is common with TensorFlow Serving, declares a form.
        rate: Rate limit in requests per second and client; 0 for no limit.
        key: The API key that clients must send; None for no key.
    """

    def __init__(self, app, rate, key):
        self.app = app
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
            await refusal(scope["path"], error)(scope, receive, send)
            return
        if body is None:
            return
        kept = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
        scope = {**scope, "headers": [*kept, (b"content-type", b"application/json")]}
        await self.app(scope, replay(body, receive), send)

    def check(self, scope, headers):
        """Raises `RequestRejected` if the client exceeds the rate limit or does not send the key."""
        path = scope["path"]
        if path == "/health":
            return
        if self.rate:
            self.rate.check(scope["client"][0], time.monotonic())
        if self.key and path not in OPEN and not path.startswith("/docs/"):
            self.key.check(headers.get(b"authorization"))


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


def replay(body, receive):
    """Returns a `receive` function that first returns the given body, then calls the original `receive`."""
    messages = [{"type": "http.request", "body": body}]

    async def read():
        return messages.pop() if messages else await receive()

    return read
