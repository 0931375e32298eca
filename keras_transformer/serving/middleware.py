"""What a request must pass before anything is done for it: rate, key, size."""

import time

from keras_transformer.serving.auth import KeyCheck
from keras_transformer.serving.errors import refusal
from keras_transformer.serving.limits import MAX_BODY, Rate, RequestRejected

OPEN = ("/health", "/docs", "/openapi.json")  # Without the key: they tell nothing of the model.


class Gate:
    """An ASGI application that lets requests pass or refuses them.

    Args:
        app: The application behind it. What it gets as a body is JSON, whatever the client calls it: `curl --data`,
            with which TensorFlow Serving is asked, calls it a form.
        rate: Requests a second of one client; 0 for no limit.
        key: The key to be shown; None for none.
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
        """Raises `RequestRejected` if the client asks too often, or without the key."""
        path = scope["path"]
        if path == "/health":
            return
        if self.rate:
            self.rate.check(scope["client"][0], time.monotonic())
        if self.key and path not in OPEN and not path.startswith("/docs/"):
            self.key.check(headers.get(b"authorization"))


async def read_body(receive, announced):
    """The body of a request, None if the client left; raises `RequestRejected` if it is too large.

    Args:
        receive: Of ASGI.
        announced: Its length as the client says.
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
    raise RequestRejected(413, f"the request is too large: {MAX_BODY} bytes at most", Connection="close")


def replay(body, receive):
    """A `receive` that gives a body that was read already, and then goes on with the true one."""
    messages = [{"type": "http.request", "body": body}]

    async def read():
        return messages.pop() if messages else await receive()

    return read
