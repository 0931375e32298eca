"""Tables with a question and an answer column: CSV and TSV, and what spreadsheets share with them."""

import collections
import contextlib
import csv
import itertools

from keras_transformer.data.columns import (
    find_columns,
    looks_like_a_header,
    looks_like_data,
    missing_header,
    unknown_columns,
    unknown_header,
)
from keras_transformer.data.conversations import NUL
from keras_transformer.errors import InputError
from keras_transformer.language import Message, translatable
from keras_transformer.language import translate as _

BROKEN_QUOTES = translatable("broken quotes")
LONGEST_RECORD = 10_000  # Maximum lines of a record. An unclosed quote would otherwise read the whole file into memory.


def table_rows(path, records, names):
    """Yields the pairs of a table, and the problems of its rows, as `read_rows` does.

    Args:
        path: The file, for messages.
        records: Records as from `delimited_records`.
        names: Names of the question and the answer column; None to find them.
    """
    columns = None
    for row, cells, problem in records:
        if columns is None:
            if problem:
                raise InputError(
                    _(
                        "{path}: row {row}: {problem}, but the first row must name the columns",
                        path=path,
                        row=row,
                        problem=_(problem),
                    )
                )
            columns, is_header = table_columns(path, row, cells, names)
            if is_header:
                continue
        if problem:
            yield row, None, None, problem
        else:
            yield row, cells[columns[0]], cells[columns[1]], None


def table_columns(path, row, cells, names):
    """Returns the positions of the question and answer columns, and whether the first row names them.

    Raises:
        InputError: If the columns are unknown.
    """
    columns = find_columns(path, cells, names)
    if columns:
        return columns, True
    if len(cells) > 2 and looks_like_data(cells):
        raise missing_header(path, row, cells)
    if len(cells) != 2:
        raise unknown_columns(path, cells, translatable("question or answer"))
    if looks_like_a_header(cells):
        raise unknown_header(path, row, cells)
    return (0, 1), False  # There is no header, and this row is the first pair.


@contextlib.contextmanager
def long_fields():
    """Context manager that lets the csv module read fields of any length; restores the process-wide limit."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def delimiter_of(first, usual):
    """Returns the delimiter of a table: what its first line has, if this line has not the usual one.

    Excel writes CSV files with semicolons where the comma is the decimal mark.

    Args:
        first: A list of the first line; an empty one if there is none.
        usual: The delimiter that the name of the file says.
    """
    with long_fields():
        columns = {delimiter: max(map(len, csv.reader(first, delimiter=delimiter)), default=0) for delimiter in ",;\t"}
    others = [delimiter for delimiter, count in columns.items() if count > 1]
    return others[0] if others and columns[usual] < 2 else usual


def delimited_records(lines, delimiter):
    """Yields (row, cells, problem) for each record of a CSV or TSV file; skips blank lines.

    It uses the csv module instead of pandas, which cannot report the row of an error. An unclosed quote swallows the
    following rows, so an invalid record only loses its first line, and reading continues at the next line. At most the
    lines of one record, limited to `LONGEST_RECORD`, are held in memory.

    Args:
        lines: The file's lines with their line ends.
        delimiter: The character between two cells.

    Yields:
        The number of the record's first line from 1, the cells (None if they are unknown), and the problem with the
        record (None if there is none). The first record determines the number of cells.
    """
    lines, again, read = iter(lines), collections.deque(), []  # `read` contains the lines of the current record.
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
        # An invalid record was inside a quote at the end of each line before `quoted`. A record that starts there and
        # is not closed on its own line would fail in the same way; reading it again would take quadratic time.
        alone = start < quoted
        reader = csv.reader(itertools.islice(following(), 1 if alone else None), delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                if cells and (len(cells) > 1 or cells[0].strip()):
                    width = width or len(cells)
                    if len(cells) != width and len(read) > 1:
                        raise csv.Error("a quote swallowed the next rows")
                    yield start + 1, cells, _cells_problem(cells, width, read[0], delimiter)
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


def _cells_problem(cells, width, line, delimiter):
    if len(cells) != width:
        if len(cells) == 1:
            return Message("1 column instead of {width}", width=width)
        if len(cells) > width and delimiter == ",":
            return Message(
                "{count} columns instead of {width} (quote cells with commas)", count=len(cells), width=width
            )
        return Message("{count} columns instead of {width}", count=len(cells), width=width)
    return NUL if "\0" in line else None
