"""How much a server takes upon itself, and what it says when that is enough."""

import dataclasses
import math

from keras_transformer.errors import InputError

MAX_BODY = 1 << 20  # Bytes of a request.
CLIENTS = 10_000  # Whose rates are remembered; of more, those that asked last.


@dataclasses.dataclass(frozen=True)
class Limits:
    """What the operator of a server can set.

    Args:
        batch: Questions that are answered side by side.
        queue: Questions that may wait.
        settings: Different settings that are answered. Each compiles programs of its own, which XLA never gives back.
        rate: Requests a second of one client; 0 for no limit.
        timeout: Seconds until an answer must be there.

    Raises:
        InputError: If one of them cannot be.
    """

    batch: int = 16
    queue: int = 256
    settings: int = 8
    rate: float = 0.0
    timeout: float = 60.0

    def __post_init__(self):
        for name in ("batch", "queue", "settings"):
            if (number := getattr(self, name)) < 1:
                raise InputError(f"--{name} must be at least 1, not {number}")
        if not 0 <= self.rate < math.inf:
            raise InputError(f"--rate must be 0 (no limit) or more, not {self.rate}")
        if not 0 < self.timeout < math.inf:
            raise InputError(f"--timeout must be above 0, not {self.timeout}")


class RequestRejected(Exception):
    """A request that gets an error instead of an answer.

    Args:
        status: The HTTP status.
        message: What is wrong and what to do, in one line, for the client.
        headers: Further headers of the response.
    """

    def __init__(self, status, message, **headers):
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


def busy(message):
    """The `RequestRejected` of a server that will soon have time again."""
    return RequestRejected(503, message, **{"Retry-After": "1"})


class Rate:
    """Lets each client ask so many times a second, and at first so many at once.

    Args:
        per_second: Requests a second, above 0.
    """

    def __init__(self, per_second):
        self.per_second, self.at_once = per_second, max(1.0, per_second)
        self.clients = {}  # What each may still ask at once, and when that was so; in the order of their last requests.

    def check(self, client, now):
        """Notes a request; raises `RequestRejected` with the seconds to wait if the client asks too often.

        Args:
            client: Its address.
            now: The time in seconds.
        """
        left, then = self.clients.pop(client, (self.at_once, now))
        left = min(self.at_once, left + (now - then) * self.per_second)
        allowed = left >= 1
        self.clients[client] = (left - allowed, now)
        if len(self.clients) > CLIENTS:
            del self.clients[next(iter(self.clients))]
        if not allowed:
            wait = math.ceil((1 - left) / self.per_second)
            message = f"more than {self.per_second:g} requests a second: wait {wait} s"
            raise RequestRejected(429, message, **{"Retry-After": str(wait)})
