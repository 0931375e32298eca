"""The records of a corpus file, each with the number of the line it starts on; faulty ones with what is wrong."""

import codecs
import collections
import contextlib
import csv
import itertools
import json
import os
import re

from keras_transformer.errors import InputError

BROKEN_QUOTES = "broken quotes"
LONGEST_RECORD = 10_000  # Lines. A quote that is never closed would go on to the end of the file, all of it held.
NUL = "NUL character"


def read_lines(path, encoding="utf-8"):
    """Yields the lines of a text file with their ends, which are CRLF, LF or CR.

    Raises:
        InputError: If the file cannot be read, or not in that encoding.
    """
    with open_text(path, encoding) as file:
        try:
            yield from file
        except UnicodeDecodeError:
            raise InputError(_decoding_fault(path, file.encoding)) from None
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from None


def open_text(path, encoding="utf-8"):
    """Opens a text file, keeping its line ends; raises `InputError` if there is no such file, or no such encoding."""
    if os.path.isdir(path):
        raise InputError(f"{path}: a folder, not a file")
    try:
        # A mark at the start is part of the encoding, not of the first column's name.
        codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
        return open(path, encoding=codec, newline="")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except LookupError:
        raise InputError(f"no text encoding is named {encoding!r}; try utf-8, cp949 or utf-16") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path, error):
    return InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}")


def _decoding_fault(path, codec):
    """Says in which line the file is not in that encoding, and in which other it may be."""
    with open(path, "rb") as file:
        data = file.read()
    name = "UTF-8" if codec == "utf-8-sig" else codec
    fault = f"{path}: line {_first_undecodable_line(data, codec)} is not {name}"
    if name != "UTF-8":
        return f"{fault}: say the file's encoding with --encoding"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"{fault}; the file starts like UTF-16: add --encoding utf-16"
    with contextlib.suppress(UnicodeDecodeError):
        data.decode("cp949")
        return f"{fault}; the file reads as CP949: add --encoding cp949"
    return f"{fault}: say its encoding with --encoding"


def _first_undecodable_line(data, codec):
    try:
        data.decode(codec)
    except UnicodeDecodeError as error:
        # `error.object` and not `data`: utf-8-sig counts from after the mark.
        return len(re.findall("\r\n|\r|\n", error.object[: error.start].decode(codec, "replace"))) + 1
    return "?"  # The file has changed since.


@contextlib.contextmanager
def long_fields():
    """Lets the csv module read fields of any length; its limit belongs to the whole process, so it is put back."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def delimited_records(lines, delimiter):
    """Yields (row, cells, problem) for each record of a CSV or TSV file; blank lines are passed over.

    The standard csv module reads them, not pandas, which cannot say in which row a fault stands. A quote that is never
    closed swallows the rows after it, so a record that fails loses its first line only: reading goes on at the next.
    No more lines are held than those of one record, `LONGEST_RECORD` at most.

    Args:
        lines: The file's lines with their ends.
        delimiter: The character between two cells.

    Yields:
        The number of the record's first line from 1, the cells (None if they cannot be told), and what is wrong with
        the record (None if nothing is). The first record decides how many cells the others must have.
    """
    lines, again, read = iter(lines), collections.deque(), []  # `read` has the lines of the record at hand.
    width = None
    start = 0
    quoted = 0

    def following():
        while (line := again.popleft() if again else next(lines, None)) is not None:
            read.append(line)
            if len(read) > LONGEST_RECORD:
                raise csv.Error("a quote that is never closed")
            yield line

    while True:
        # A record that failed was inside a quote at the end of each line before `quoted`. One that starts there and is
        # not closed on its own line goes on as the failed one did: reading that far again would take quadratic time.
        alone = start < quoted
        reader = csv.reader(itertools.islice(following(), 1 if alone else None), delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                if cells and (len(cells) > 1 or cells[0].strip()):
                    width = width or len(cells)
                    if len(cells) != width and len(read) > 1:
                        raise csv.Error("a quote swallowed the next rows")
                    yield start + 1, cells, _cells_problem(cells, width, read[0])
                start += len(read)
                read.clear()
        except csv.Error:
            yield start + 1, None, NUL if "\0" in read[0] else BROKEN_QUOTES
            quoted = max(quoted, start + len(read) - 1)
            again.extendleft(reversed(read[1:]))
            start += 1
            read.clear()
            continue
        if not alone:
            return


def _cells_problem(cells, width, line):
    if len(cells) != width:
        return f"{len(cells)} {'column' if len(cells) == 1 else 'columns'} instead of {width}"
    # Python 3.10 refuses the whole line and later ones do not: leave it out in all of them.
    return NUL if "\0" in line else None


def json_records(lines):
    """Yields (row, object, problem) for each line of a JSONL file, like `delimited_records`."""
    for row, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # RecursionError: brackets nested too deep.
            yield row, None, "not JSON"
            continue
        if isinstance(record, dict):
            yield row, record, None
        else:
            yield row, None, "not a JSON object"
