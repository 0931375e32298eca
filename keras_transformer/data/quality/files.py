"""How a corpus file is written: its encoding, mark and line ends, and the lines that the encoding does not explain."""

import codecs
import collections
import dataclasses
import os
import re

from keras_transformer.data.quality.rows import Rows
from keras_transformer.data.records import read_lines

LINE_ENDS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
ESCAPED = re.compile("[\udc80-\udcff]")  # What "surrogateescape" makes of bytes that are not UTF-8.


@dataclasses.dataclass(frozen=True)
class File:
    """How a file is written.

    Attributes:
        path: Its path.
        encoding: The encoding it was read in.
        size: Bytes.
        mark: Whether it starts with the byte-order mark of UTF-8.
        line_ends: How many lines end with "LF", "CRLF" or "CR".
    """

    path: str
    encoding: str
    size: int
    mark: bool
    line_ends: dict


def examine_file(path, encoding):
    """How a file is written; raises `InputError` if it cannot be read in that encoding."""
    ends = collections.Counter(line[len(line.rstrip("\r\n")) :] for line in read_lines(path, encoding))
    line_ends = {name: ends[end] for end, name in LINE_ENDS.items() if ends[end]}
    with open(path, "rb") as file:
        mark = file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    return File(str(path), encoding, os.path.getsize(path), mark, line_ends)


def stray_lines(path):
    """The lines that are not UTF-8 in a file that is but for them, as `Rows`; none if it is in another encoding."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        stray, sound = [], 0
        for number, line in enumerate(file, 1):
            if ESCAPED.search(line):
                stray.append(number)
            elif not line.isascii():
                sound += 1
    return Rows.of(stray) if len(stray) < sound else Rows()
