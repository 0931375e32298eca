"""Limits of a server, rate limiting, and rejected requests."""

import dataclasses
import ipaddress
import math

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

MAX_BODY = 1 << 20  # Maximum size of a request body in bytes.
LONGEST_ADDRESS = 45  # Characters of an IPv6 address.
CLIENTS = 10_000  # Maximum number of clients in the rate limiter; the least recent are dropped.


@dataclasses.dataclass(frozen=True)
class Limits:
    """The configurable limits of a server.

    Args:
        batch: Maximum batch size in questions.
        queue: Maximum number of waiting questions.
        programs: Maximum number of programs that are compiled for other settings than the default, and never freed.
        rate: Rate limit in requests per second and client; 0 for no limit.
        timeout: Timeout of an answer in seconds.

    Raises:
        InputError: If a limit is invalid.
    """

    batch: int = 16
    queue: int = 256
    programs: int = 64
    rate: float = 0.0
    timeout: float = 60.0

    def __post_init__(self):
        for name, least in (("batch", 1), ("queue", 1), ("programs", 0)):
            if (number := getattr(self, name)) < least:
                raise InputError(
                    _("--{name} must be at least {least}, not {number}", name=name, least=least, number=number)
                )
        if not 0 <= self.rate < math.inf:
            raise InputError(_("--rate must be 0 (no limit) or more, not {rate}", rate=self.rate))
        if not 0 < self.timeout < math.inf:
            raise InputError(_("--timeout must be above 0, not {timeout}", timeout=self.timeout))


class RequestRejected(Exception):
    """Raised to reject a request with an error response.

    Args:
        status: The HTTP status code.
        message: One line for the client: what is wrong and what to do.
        headers: Further headers of the response.
    """

    def __init__(self, status, message, **headers):
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


def busy(message):
    """Returns the `RequestRejected` of a temporarily unavailable server, with `Retry-After`."""
    return RequestRejected(503, message, **{"Retry-After": "1"})


class Rate:
    """A token bucket rate limiter per client. The bucket holds the requests of one second, at least one.

    Args:
        per_second: Requests per second and client, above 0.
    """

    def __init__(self, per_second):
        self.per_second, self.at_once = per_second, max(1.0, per_second)
        self.clients = {}  # Remaining tokens and time of the last request, least recent first.

    def check(self, client, now):
        """Counts a request; raises `RequestRejected` with the time to wait if the client exceeds the rate limit.

        Args:
            client: The client's address.
            now: The current time in seconds.
        """
        client = network_of(client)
        left, then = self.clients.pop(client, (self.at_once, now))
        left = min(self.at_once, left + (now - then) * self.per_second)
        allowed = left >= 1
        self.clients[client] = (left - allowed, now)
        if len(self.clients) > CLIENTS:
            del self.clients[next(iter(self.clients))]
        if not allowed:
            wait = math.ceil((1 - left) / self.per_second)
            message = f"rate limit of {self.per_second:g} requests per second exceeded: wait {wait} s"
            raise RequestRejected(429, message, **{"Retry-After": str(wait)})


def network_of(address):
    """Returns whom an address belongs to: itself, or for IPv6 its network of 64 bits, which one client may use whole.

    What is no address, which only a trusted proxy can send, is cut to the length of one.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:LONGEST_ADDRESS]
    return address if parsed.version == 4 else str(ipaddress.ip_network((int(parsed), 64), strict=False))
