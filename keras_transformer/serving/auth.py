"""Authentication of clients by an API key."""

import hashlib
import hmac
import os
import pathlib

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.serving.limits import RequestRejected

VARIABLE = "KERAS_TRANSFORMER_API_KEY"


def read_key(path=None):
    """Reads the API key from a file, or else from the environment; returns None if there is neither.

    The key is not a command-line option, because every user of the machine can read command lines.

    Args:
        path: The file, with the key as its only line.

    Raises:
        InputError: If the file cannot be read, or the key is not a single line of visible ASCII characters.
    """
    if path is None and VARIABLE not in os.environ:
        return None
    try:
        key = os.environ[VARIABLE] if path is None else pathlib.Path(path).read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(_("{path}: not UTF-8", path=path)) from error
    key = key.strip()
    if not key or not all("!" <= character <= "~" for character in key):
        raise InputError(
            _("{where}: an API key is one line of letters, digits and signs, without spaces", where=path or VARIABLE)
        )
    return key


class KeyCheck:
    """Checks the API key of requests, in constant time.

    Args:
        key: The API key.
    """

    def __init__(self, key):
        self.digest = digest(f"Bearer {key}".encode())

    def check(self, authorization):
        """Raises `RequestRejected` unless the request carries the key.

        Args:
            authorization: The bytes of the header `Authorization`; None if there is none.
        """
        if authorization is None or not hmac.compare_digest(digest(authorization), self.digest):
            message = "the API key is missing or wrong: send the header Authorization: Bearer KEY"
            raise RequestRejected(401, message, **{"WWW-Authenticate": "Bearer"})


def digest(data):
    """Returns a digest of fixed length."""
    return hashlib.sha256(data).digest()
