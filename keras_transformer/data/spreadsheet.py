"""Spreadsheets of Excel (XLSX), which Google Sheets and LibreOffice write as well."""

import contextlib
import datetime
import itertools
import os
import re
import warnings
import zipfile

from keras_transformer.data.columns import find_columns
from keras_transformer.data.conversations import ANSWER, QUESTION
from keras_transformer.data.tables import table_columns
from keras_transformer.data.text_files import LARGEST_RATIO, UNREADABLE, unreadable
from keras_transformer.errors import InputError
from keras_transformer.language import Message
from keras_transformer.language import translate as _

MOST_UNPACKED = 100_000_000  # Bytes. An XLSX file is a ZIP file of XML, which takes some times as much memory.
MOST_ELEMENTS = 7_000_000  # Of XML, each of which takes openpyxl microseconds. Those of a table of texts are longer.
LONGEST_ROW = 10_000_000  # Bytes of a row, which openpyxl holds in memory, cell by cell.
ROW = re.compile(rb"<(?:\w+:)?(?:row|si)\b")
MOST_ROWS = 1_048_576  # Those that Excel has.
MOST_COLUMNS = 1000  # A single cell in the last one of Excel would make 16,384 of a row.
ENCRYPTED = b"\xd0\xcf\x11\xe0"  # What a file with a password starts with, and one of old Excel.
WHAT = (QUESTION, ANSWER)
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
ESCAPED_UNDERSCORE = "x005F_"  # What is before it, an underscore, stays.
CARRIAGE_RETURN = "_x000D_"  # As XLSX escapes it, before the end of a line.
NUMBER_FORMAT = re.compile(r"([^\d#?.,%E@]*)(#,##)?(0+)(?:\.(0+))?(%?)([^\d#?.,%E@]*)")  # Others are not followed.
UNSHOWN = re.compile(r'_.|\*.|\[[^]]*\]|[\\"]')  # Of a number format: space, filling, colour and currency, quotes.
BLOCK = 1000  # Rows that are read at a time.
ABOVE_HEADER = 10  # Rows that may be above the header.


def spreadsheet_rows(path, names):
    """Yields the pairs of the first sheet that has cells, and the problems of its rows, as `read_rows` does.

    Args:
        path: The file.
        names: Names of the question and the answer column; None to find them.

    Raises:
        InputError: If the file cannot be read, its XML is too large, or the columns are unknown.
    """
    check_size(path)
    columns, formulas = None, None
    for title, row, cells, texts in rows_from_header(path, names):
        if columns is None:
            filled = [column for column, text in enumerate(texts) if text]
            found, has_header = table_columns(path, row, texts[filled[0] : filled[-1] + 1], names)
            columns = [filled[0] + column for column in found]
            if has_header:
                continue
        pair = cells_at(cells, columns)
        problems = [error_problem(cell, what) for cell, what in zip(pair, WHAT)]
        if any(map(may_be_a_formula, pair)):
            formulas = formulas or sheet_rows(path, title, values=False)
            written = next((written for _title, number, written in formulas if number == row), ())
            problems += [formula_problem(cell, what) for cell, what in zip(cells_at(written, columns), WHAT)]
        problem = next(filter(None, problems), None)
        if problem or any(texts):
            yield row, *map(cell_text, pair), problem


def rows_from_header(path, names):
    """Yields (title, row, cells, texts) from the row that names the columns, or else from the first with a text.

    Rows above the header are skipped: a sheet often has a title.
    """
    rows = ((*row, [cell_text(cell) for cell in row[-1]]) for row in sheet_rows(path))
    rows = itertools.dropwhile(lambda row: not any(row[-1]), rows)
    head = list(itertools.islice(rows, ABOVE_HEADER + 1))
    first = next((number for number, row in enumerate(head) if is_header(path, row[-1], names)), 0)
    yield from itertools.chain(head[first:], rows)


def is_header(path, texts, names):
    """Returns whether a row names both columns."""
    with contextlib.suppress(InputError):
        return find_columns(path, texts, names) is not None
    return False


def sheet_rows(path, title=None, values=True):
    """Yields the title of a sheet, the number of a row and its cells, for each row in which there are cells.

    Args:
        path: The file.
        title: The title of the sheet; None for the first one in which a cell has a value.
        values: Whether a formula is read as its stored value, and not as what was written.
    """
    with open(path, "rb") as file:  # openpyxl would leave it open after an error.
        with one_line_of_errors(path):
            book = open_book(file, values)
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # Some programs write a wrong size.
            if sheet.title == title or (title is None and has_values(path, sheet)):
                for row, cells in numbered_rows(path, sheet):
                    yield sheet.title, row, cells
                return


def open_book(file, values):
    """Returns the workbook of openpyxl in a file; `values` is that of `sheet_rows`.

    The shared texts are read here: openpyxl makes objects of each one with its fonts, which takes a third of all time.
    """
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.xml.constants import SHARED_STRINGS

    class Reader(ExcelReader):
        def read_strings(self):
            if part := self.package.find(SHARED_STRINGS):
                with self.archive.open(part.PartName[1:]) as source:
                    self.shared_strings = shared_texts(source)

    reader = Reader(file, read_only=True, data_only=values, keep_links=False)
    reader.read()
    return reader.wb


def shared_texts(source):
    """Returns the texts of a file of shared strings, without formats and pronunciations."""
    from openpyxl.xml.functions import iterparse

    texts, nodes = [], iterparse(source, ("start", "end"))
    _start, root = next(nodes)
    for event, node in nodes:
        if event == "end" and node.tag == f"{MAIN}si":
            parts = itertools.chain(node.iterfind(f"{MAIN}t"), node.iterfind(f"{MAIN}r/{MAIN}t"))
            texts.append("".join(part.text or "" for part in parts).replace(ESCAPED_UNDERSCORE, ""))
            root.clear()  # The root would keep every node.
    return texts


def has_values(path, sheet):
    """Returns whether a cell of a sheet has a value."""
    return any(cell.value is not None for _row, cells in numbered_rows(path, sheet) for cell in cells)


def numbered_rows(path, sheet):
    """Yields the number and the cells of each row in which there are cells."""
    rows = enumerate(sheet.iter_rows(max_row=MOST_ROWS), 1)
    while True:
        with one_line_of_errors(path):
            block = list(itertools.islice(rows, BLOCK))
        if not block:
            return
        yield from ((row, cells[:MOST_COLUMNS]) for row, cells in block if cells)


def check_size(path):
    """Raises `InputError` unless a file is a ZIP file whose contents fit into memory."""
    most = min(MOST_UNPACKED, max(LONGEST_ROW, LARGEST_RATIO * os.path.getsize(path)))
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(file.file_size for file in archive.infolist())  # What is read at most, whatever is packed.
            large = archive.infolist() if LONGEST_ROW < unpacked <= most else ()
            sizes = [rows_and_elements(archive.open(file)) for file in large]
    except zipfile.BadZipFile:
        with open(path, "rb") as file:
            encrypted = file.read(len(ENCRYPTED)) == ENCRYPTED
        if encrypted:
            message = _("{path}: has a password, or is of an old Excel: save it as XLSX without a password", path=path)
        else:
            message = _("{path}: damaged, or not XLSX: open it in a spreadsheet program, and save it again", path=path)
        raise InputError(message) from None
    except (NotImplementedError, RuntimeError, *UNREADABLE) as error:
        raise unreadable(path, error) from None
    longest, elements = max((row for row, _elements in sizes), default=0), sum(count for _row, count in sizes)
    if unpacked > most or longest > LONGEST_ROW or elements > MOST_ELEMENTS:
        raise InputError(
            _(
                "{path}: {packed:,} bytes that unpack to {unpacked:,}, too much for a table of texts: save the sheet "
                "as CSV UTF-8, and name that file",
                path=path,
                packed=os.path.getsize(path),
                unpacked=unpacked,
            )
        )


def rows_and_elements(file):
    """Returns about how many bytes of XML are between the starts of two rows or shared texts, and its elements."""
    longest = length = elements = 0
    with file:
        while block := file.read(1_000_000):
            elements += block.count(b"<") - block.count(b"</")
            first, *others = ROW.split(block)
            length += len(first)
            for row in others:
                longest, length = max(longest, length), len(row)
    return max(longest, length), elements


@contextlib.contextmanager
def one_line_of_errors(path):
    """Context manager that raises the errors of openpyxl as `InputError`, and hides its warnings about styles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except Exception as error:  # Damaged XML leads to any of them.
            raise unreadable(path, error) from error


def cells_at(cells, columns):
    """Returns the cells of a row in some columns, with None where the row has ended."""
    return [cells[column] if column < len(cells) else None for column in columns]


def may_be_a_formula(cell):
    """Returns whether a cell may be a formula without a stored value: it is in the file, and has no value."""
    return cell is not None and hasattr(cell, "row") and cell.value is None and cell.data_type == "n"


def formula_problem(cell, what):
    """Returns the problem of a cell if it is a formula."""
    if cell is None or cell.data_type != "f":
        return None
    return Message("{what} is a formula without a stored value", what=what)


def error_problem(cell, what):
    """Returns the problem of a cell if it shows an error, such as #N/A."""
    if cell is None or cell.data_type != "e":
        return None
    return Message("{what} is the error {error}", what=what, error=cell.value)


def cell_text(cell):
    """Returns the text that a cell shows, as far as its format is known."""
    value = None if cell is None else cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return number_text(value, cell.number_format)
    if isinstance(value, datetime.datetime):
        return f"{value:%Y-%m-%d}" if value.time() == datetime.time() else f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, datetime.time):
        return f"{value:%H:%M}"
    return str(value).replace(CARRIAGE_RETURN, "")


def number_text(value, number_format):
    """Returns a number as its format shows it: 3, 0.5, 12,000원, 007, 3.50 or 15%."""
    match = NUMBER_FORMAT.fullmatch(UNSHOWN.sub("", number_format.partition(";")[0]).strip())
    if not match:
        return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    before, thousands, whole, decimals, percent, after = match.groups(default="")
    width = 0 if thousands else len(whole) + len(f".{decimals}" if decimals else "")
    number = f"{value * 100 if percent else value:0{width}{',' if thousands else ''}.{len(decimals)}f}"
    return f"{before}{number}{percent}{after}"
