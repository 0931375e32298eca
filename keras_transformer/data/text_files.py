"""Lines of text files, in any encoding, compressed by gzip or not."""

import codecs
import contextlib
import functools
import gzip
import io
import itertools
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

UTF_8, UTF_16, CP949 = "utf-8", "utf-16", "cp949"
BLOCK = 1 << 20  # Bytes that are decoded at a time to find the encoding of a file.
NOT_ASCII = re.compile("[^\0-\x7f]")
ESCAPED = re.compile("[\udc80-\udcff]")  # Characters that "surrogateescape" decodes invalid bytes to.
HANGUL = re.compile("[가-힣]")


def read_lines(path, encoding=None):
    """Yields the lines of a text file with their line ends (CRLF, LF or CR).

    Args:
        path: The file.
        encoding: Its encoding; None for that of `encoding_of`.

    Raises:
        InputError: If the file cannot be read, or has another encoding.
    """
    with open_text(path, encoding or encoding_of(path)) as file:
        try:
            yield from file
        except UnicodeDecodeError as error:
            raise InputError(_decoding_fault(path, file.encoding, error)) from None
        except UNREADABLE as error:
            raise unreadable(path, error) from None


def encoding_of(path):
    """Returns the encoding of a text file, found by its bytes.

    Args:
        path: The file.

    Returns:
        "utf-16" for a file with its byte-order mark, "cp949" for Korean text in it, as spreadsheet programs save it,
        and "utf-8" for all others: also for those in other encodings or that cannot be read, where reading tells.
    """
    with contextlib.suppress(*UNREADABLE):
        if next(blocks(path), b"").startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return UTF_16
        if not is_utf_8(path) and is_korean_cp949(path):
            return CP949
    return UTF_8


def is_utf_8(path):
    """Returns whether a whole file is UTF-8."""
    with contextlib.suppress(UnicodeDecodeError):
        for _text in codecs.iterdecode(blocks(path), UTF_8):
            pass
        return True
    return False


def is_korean_cp949(path):
    """Returns whether a file that is not UTF-8 is Korean text in CP949; raises `UnicodeDecodeError` if it is no CP949.

    It is none where most that is not ASCII is valid UTF-8, some bytes of which are damaged. Neither is it if its Hangul
    is mostly syllables that CP949 adds to KS X 1001, which Korean hardly ever needs: the quotes of Windows in English,
    such as in “don’t”, or Japanese read as CP949 are such syllables.
    """
    damaged, sound, common, rare = 0, 0, 0, 0
    for text in codecs.iterdecode(blocks(path), UTF_8, "surrogateescape"):
        invalid = len(ESCAPED.findall(text))
        damaged, sound = damaged + invalid, sound + len(NOT_ASCII.findall(text)) - invalid
    if damaged <= sound:
        return False
    for text in codecs.iterdecode(blocks(path), CP949):
        hangul = HANGUL.findall(text)
        usual = sum(map(common_hangul().__contains__, hangul))
        common, rare = common + usual, rare + len(hangul) - usual
    return common > rare


@functools.cache
def common_hangul():
    """Returns the set of the 2,350 syllables of KS X 1001."""
    return frozenset(bytes(pair).decode(CP949) for pair in itertools.product(range(0xB0, 0xC9), range(0xA1, 0xFF)))


def blocks(path):
    """Yields the bytes of a file in blocks."""
    with open_bytes(path) as file:
        yield from iter(functools.partial(file.read, BLOCK), b"")


def open_text(path, encoding):
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
    if (found := encoding_of(path)) != UTF_8:
        return _("{fault}; the file is {found}: give --encoding {found}, or no --encoding", fault=fault, found=found)
    return _("{fault}: correct it, or give the encoding of the file with --encoding", fault=fault)


def _first_undecodable_line(data, codec):
    try:
        data.decode(codec)
    except UnicodeDecodeError as error:
        # `error.object`, not `data`, because positions of utf-8-sig start after the byte-order mark.
        return len(re.findall("\r\n|\r|\n", error.object[: error.start].decode(codec, "replace"))) + 1
    return "?"  # The file has changed in the meantime.
