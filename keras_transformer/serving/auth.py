"""The key that clients must show, where a server has one."""

import hashlib
import hmac
import os
import pathlib

from keras_transformer.errors import InputError
from keras_transformer.serving.limits import RequestRejected

VARIABLE = "KERAS_TRANSFORMER_API_KEY"


def read_key(path=None):
    """The key of a file, or else of the environment; None if there is neither.

    It is no option of the command line, whose words every user of the machine can read.

    Args:
        path: The file, whose only line is the key.

    Raises:
        InputError: If the file cannot be read, or the key is no single line of visible ASCII characters.
    """
    if path is None and VARIABLE not in os.environ:
        return None
    try:
        key = os.environ[VARIABLE] if path is None else pathlib.Path(path).read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8") from error
    key = key.strip()
    if not key or not all("!" <= character <= "~" for character in key):
        raise InputError(f"{path or VARIABLE}: an API key is one line of letters, digits and signs, without spaces")
    return key


class KeyCheck:
    """Compares what clients show with the key, in a time that tells nothing about it.

    Args:
        key: The key.
    """

    def __init__(self, key):
        self.digest = digest(f"Bearer {key}".encode())

    def check(self, authorization):
        """Raises `RequestRejected` unless the key is shown.

        Args:
            authorization: The bytes of the header `Authorization`; None if there is none.
        """
        if authorization is None or not hmac.compare_digest(digest(authorization), self.digest):
            message = "the API key is missing or wrong: send the header Authorization: Bearer KEY"
            raise RequestRejected(401, message, **{"WWW-Authenticate": "Bearer"})


def digest(shown):
    """A digest of fixed length, whatever was shown."""
    return hashlib.sha256(shown).digest()
