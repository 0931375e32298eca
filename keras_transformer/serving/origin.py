"""Protection of a server without an API key from web pages.

The pages that a user visits can send requests to servers on the same machine. The browser says from where, in the
header `Origin`. A page whose own name is made to lead to this machine (DNS rebinding) is detected by the header `Host`.
"""

import urllib.parse

from keras_transformer.serving.limits import RequestRejected

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class OriginCheck:
    """Rejects requests that were addressed to another server, or sent by the web page of another one.

    Args:
        names: The names and addresses by which clients reach the server; None for any.
        allowed: Further names. Web pages of these hosts may send requests.
    """

    def __init__(self, names=LOCAL, allowed=()):
        self.allowed = frozenset(map(str.lower, allowed))
        self.names = None if names is None else self.allowed.union(map(str.lower, names))

    def check(self, headers):
        """Raises `RequestRejected` unless the headers, a dictionary of bytes, name this server."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self.names is not None and name_of(host) not in self.names:
            raise RequestRejected(
                403, "the header Host names another server: start this one with --allow-host NAME to add a name"
            )
        if b"origin" not in headers:
            return
        _, _, origin = headers[b"origin"].decode("latin-1").lower().partition("://")
        if origin != host and name_of(origin) not in self.allowed:
            raise RequestRejected(
                403, "a web page of another server sent this: start the server with --allow-host NAME to allow its host"
            )


def name_of(place):
    """Returns the name in "name:port"; "" if there is none."""
    try:
        return urllib.parse.urlsplit(f"//{place}").hostname or ""
    except ValueError:  # Brackets without an address.
        return ""
