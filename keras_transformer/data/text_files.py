"""Lines of text files, in any encoding, compressed by gzip or not."""

import codecs
import contextlib
import gzip
import io
import os
import re
import zlib

from keras_transformer.errors import InputError, no_such_file
from keras_transformer.language import translate as _

GZIP = ".gz"
LARGEST_RATIO = 200  # Of unpacked to packed bytes. Text has 3 to 10, one line repeated for ever 1,000.
ALWAYS_UNPACKED = 100_000_000  # Bytes that are unpacked whatever their ratio.
UNREADABLE = (OSError, ValueError, EOFError, zlib.error)
"""The errors of a file that cannot be read, damaged compressed ones among them."""


def read_lines(path, encoding="utf-8"):
    """Yields the lines of a text file with their line ends (CRLF, LF or CR).

    Raises:
        InputError: If the file cannot be read, or has another encoding.
    """
    with open_text(path, encoding) as file:
        try:
            yield from file
        except UnicodeDecodeError as error:
            raise InputError(_decoding_fault(path, file.encoding, error)) from None
        except UNREADABLE as error:
            raise unreadable(path, error) from None


def open_text(path, encoding="utf-8"):
    """Opens a text file without converting line ends; raises `InputError` if the file or the encoding is unknown."""
    if os.path.isdir(path):
        raise InputError(_("{path}: a folder, not a file", path=path))
    codec = codec_of(encoding)
    try:
        if not is_compressed(path):
            return open(path, encoding=codec, newline="")
        return io.TextIOWrapper(open_bytes(path), encoding=codec, newline="")
    except FileNotFoundError:
        raise no_such_file(path) from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def codec_of(encoding):
    """Returns the codec to read files of an encoding with; raises `InputError` if there is none of this name."""
    try:
        "".encode(encoding)
    except LookupError:
        raise InputError(
            _("no text encoding is named {encoding!r}; try utf-8, cp949 or utf-16", encoding=encoding)
        ) from None
    # A byte-order mark belongs to the encoding, not to the name of the first column.
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def open_bytes(path):
    """Opens a file to read its bytes, those that are packed if it is compressed."""
    return bounded(gzip.open(path), os.path.getsize(path)) if is_compressed(path) else open(path, "rb")


def is_compressed(path):
    """Returns whether a file is compressed by gzip, as its name says."""
    return os.fspath(path).lower().endswith(GZIP)


def bounded(file, packed):
    """Returns a binary file that raises `ValueError` when more comes out of a compressed file than any text needs.

    Args:
        file: The unpacked file.
        packed: Its size in bytes while it is packed.
    """
    return io.BufferedReader(_Bounded(file, max(ALWAYS_UNPACKED, LARGEST_RATIO * packed)))


class _Bounded(io.RawIOBase):
    def __init__(self, file, most):
        self._file, self._left = file, most

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(_("unpacked, it is more than {ratio} times as large", ratio=LARGEST_RATIO))
        buffer[: len(data)] = data
        return len(data)

    def close(self):
        self._file.close()
        super().close()


def unreadable(path, error):
    """Returns an `InputError` for a file that cannot be read, with the reason in one line."""
    reason = " ".join(str(getattr(error, "strerror", None) or error).split())
    return InputError(_("{path}: cannot be read: {reason}", path=path, reason=reason))


def _decoding_fault(path, codec, error):
    """Returns a message with the first line that cannot be decoded, and with the probable encoding."""
    try:
        with open_bytes(path) as file:
            data = file.read()
    except UNREADABLE as error:
        return str(unreadable(path, error))
    name = "UTF-8" if codec == "utf-8-sig" else codec
    try:
        line = _first_undecodable_line(data, codec)
    except UnicodeError:  # Codecs that are not of files, such as idna, cannot tell.
        return _("{path}: cannot be read: {reason}", path=path, reason=error)
    fault = _("{path}: line {line} is not {encoding}", path=path, line=line, encoding=name)
    if name != "UTF-8":
        return _("{fault}: give the file's encoding with --encoding", fault=fault)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _("{fault}; the file starts like UTF-16: add --encoding utf-16", fault=fault)
    with contextlib.suppress(UnicodeDecodeError):
        data.decode("cp949")
        return _("{fault}; the file reads as CP949: add --encoding cp949", fault=fault)
    return _("{fault}: give its encoding with --encoding", fault=fault)


def _first_undecodable_line(data, codec):
    try:
        data.decode(codec)
    except UnicodeDecodeError as error:
        # `error.object`, not `data`, because positions of utf-8-sig start after the byte-order mark.
        return len(re.findall("\r\n|\r|\n", error.object[: error.start].decode(codec, "replace"))) + 1
    return "?"  # The file has changed in the meantime.
