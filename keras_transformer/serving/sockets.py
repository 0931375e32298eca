"""The listening socket of the server."""

import ipaddress
import socket

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _


def listen(host, port):
    """Returns a listening socket; raises `InputError` if the address cannot be used.

    Args:
        host: A name or an address of this machine.
        port: The port; 0 for any free port.
    """
    if not 0 <= port < 1 << 16:
        raise InputError(_("--port must be from 0 to {most}, not {port}", most=(1 << 16) - 1, port=port))
    try:
        family, *_rest, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise InputError(
            _(
                "cannot listen on {host}, port {port}: {reason}; choose another --host or --port",
                host=host,
                port=port,
                reason=error.strerror,
            )
        ) from error


def address_of(listener):
    """Returns the base URL of a listening socket, such as "http://127.0.0.1:8000"."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_open(listener):
    """Returns whether other machines can reach a listening socket."""
    return not ipaddress.ip_address(listener.getsockname()[0]).is_loopback
