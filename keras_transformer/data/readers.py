"""Reads a corpus row by row, in the format that its name and its first lines say."""

import itertools
import os

from keras_transformer.data import kakaotalk
from keras_transformer.data.chatterbot import CONVERSATIONS, chatterbot_rows
from keras_transformer.data.conversations import pair_problem
from keras_transformer.data.parallel import in_direction, parallel_rows, zip_rows
from keras_transformer.data.rasa import NLU, YAML_ENDINGS, rasa_rows
from keras_transformer.data.records import arrow_records, json_file_records, json_records, parquet_records, record_rows
from keras_transformer.data.spreadsheet import spreadsheet_rows
from keras_transformer.data.tables import delimited_records, delimiter_of, long_fields, table_rows
from keras_transformer.data.text_files import GZIP, UTF_8, open_text, read_lines
from keras_transformer.data.yaml_files import fields_of, read_yaml
from keras_transformer.errors import InputError, no_such_file
from keras_transformer.language import translate as _

DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON, JSON_LINES = ".json", (".jsonl", ".ndjson")
XLSX, PARQUET, ARROW, ZIP = ".xlsx", ".parquet", ".arrow", ".zip"
BINARY = (XLSX, PARQUET, ARROW, ZIP)
COMPRESSIBLE = (*DELIMITERS, ".txt", JSON, *JSON_LINES)
ENDINGS = (*COMPRESSIBLE, XLSX, PARQUET, ARROW, *YAML_ENDINGS, ZIP, *(ending + GZIP for ending in COMPRESSIBLE))
SPREADSHEETS = (".xls", ".ods", ".numbers")  # Which programs save as CSV.


def read_rows(path, question=None, answer=None, encoding=None, turns=1):
    """Reads a corpus row by row, without holding it in memory.

    Args:
        path: As in `load_pairs`, like the others.
        question: Name of the column of questions.
        answer: Name of the column of answers.
        encoding: Encoding of the file; None for that of `encoding_of`.
        turns: Maximum number of turns in a question, if a row is a conversation, which yields several pairs.

    Returns:
        An iterator of (row, question, answer, problem, opening): the number of the row's first line from 1, the texts
        without surrounding white space, the problem that makes the row unusable (None if there is none; otherwise the
        texts are meaningless), and the first turn of a conversation or else the question. The iterator raises
        `InputError` if the file cannot be read.

    Raises:
        InputError: If the arguments are invalid for any corpus.
    """
    if (question is None) != (answer is None):
        raise InputError(_("give both --question and --answer, or neither"))
    names = None if question is None else (question, answer)
    return itertools.starmap(_checked_row, _rows(corpus_paths(path), names, encoding, turns))


def corpus_paths(path):
    """Returns the paths of a corpus, given as one path or several, as a list."""
    return [path] if isinstance(path, (str, os.PathLike)) else list(path)


def corpus_label(path):
    """Returns the name of a corpus for messages."""
    return " + ".join(map(str, corpus_paths(path)))


def ending_of(path):
    """Returns the ending of a file's name in lower case, such as ".csv" or ".csv.gz"."""
    root, ending = os.path.splitext(os.fspath(path).lower())
    return os.path.splitext(root)[1] + ending if ending == GZIP else ending


def is_text(path):
    """Returns whether a corpus file is text, to which an encoding and line ends belong."""
    return ending_of(path) not in BINARY


def _rows(paths, names, encoding, turns):
    """Returns an iterator of the arguments of `_checked_row`; the texts are None if there is a problem."""
    if len(paths) == 2:
        if names:
            paths = in_direction(paths, names)
        for path in paths:
            if ending_of(path).removesuffix(GZIP) in READERS.keys() - {".tsv", ".txt"}:
                raise InputError(
                    _("{path}: contains pairs, but two files must be parallel text; give this file alone", path=path)
                )
        return parallel_rows(paths, encoding)
    if len(paths) != 1:
        raise InputError(_("give one corpus file, or two parallel text files, not {count}", count=len(paths)))
    [path] = paths
    ending = ending_of(path)
    if ending in ENDINGS:
        return READERS[ending.removesuffix(GZIP)](path, names, encoding, turns)
    if os.path.isdir(path):
        raise InputError(_("{path}: a folder, not a file", path=path))
    if not os.path.exists(path):
        raise no_such_file(path)
    if ending in SPREADSHEETS:
        raise InputError(_("{path}: a spreadsheet; save it as CSV UTF-8, and name that file", path=path))
    raise InputError(
        _("{path}: unknown file type; the name must end in one of {endings}", path=path, endings=", ".join(ENDINGS))
    )


def check_file(path, encoding):
    """Raises `InputError` unless a corpus file is there, and can be opened."""
    if is_text(path):
        open_text(path, encoding or UTF_8).close()
    elif os.path.isdir(path):
        raise InputError(_("{path}: a folder, not a file", path=path))
    elif not os.path.exists(path):
        raise no_such_file(path)


def _delimited_rows(path, names, encoding, turns):
    lines = read_lines(path, encoding)
    first = list(itertools.islice(lines, 1))
    delimiter = delimiter_of(first, DELIMITERS[ending_of(path).removesuffix(GZIP)])
    records = delimited_records(itertools.chain(first, lines), delimiter)
    with long_fields():
        head = list(itertools.islice(records, 1))
        records = itertools.chain(head, records)
        if names is None and head and head[0][1] == kakaotalk.COLUMNS:
            next(records)
            yield from kakaotalk.chat_rows(path, kakaotalk.table_messages(records), turns)
        else:
            yield from table_rows(path, records, names)


def _text_rows(path, names, encoding, turns):
    lines = read_lines(path, encoding)
    head = list(itertools.islice(lines, kakaotalk.HEAD))
    lines = itertools.chain(head, lines)
    if names is None and kakaotalk.is_export(head):
        yield from kakaotalk.chat_rows(path, kakaotalk.text_messages(lines), turns)
        return
    with long_fields():
        yield from table_rows(path, delimited_records(lines, "\t"), names)


def _json_rows(path, names, encoding, turns):
    yield from record_rows(path, json_file_records(path, read_lines(path, encoding)), names, turns)


def _json_lines_rows(path, names, encoding, turns):
    return record_rows(path, json_records(read_lines(path, encoding)), names, turns)


def _parquet_rows(path, names, encoding, turns):
    check_file(path, encoding)
    yield from record_rows(path, parquet_records(path), names, turns)


def _arrow_rows(path, names, encoding, turns):
    check_file(path, encoding)
    yield from record_rows(path, arrow_records(path), names, turns)


def _spreadsheet_rows(path, names, encoding, turns):
    check_file(path, encoding)
    yield from spreadsheet_rows(path, names)


def _zip_rows(path, names, encoding, turns):
    check_file(path, encoding)
    yield from zip_rows(path, names, encoding)


def _yaml_rows(path, names, encoding, turns):
    if names:
        raise InputError(_("{path}: --question and --answer name columns, but YAML has no columns", path=path))
    root = read_yaml(path, encoding)
    fields = fields_of(root)
    if CONVERSATIONS in fields:
        yield from chatterbot_rows(root, turns)
    elif NLU in fields:
        yield from rasa_rows(path, root, encoding)
    elif root:
        raise InputError(
            _(
                "{path}: neither conversations: (ChatterBot) nor nlu: (Rasa) at its top level; of a Rasa project, name "
                "the folder",
                path=path,
            )
        )


READERS = {
    **dict.fromkeys((".csv", ".tsv"), _delimited_rows), ".txt": _text_rows, JSON: _json_rows,
    **dict.fromkeys(JSON_LINES, _json_lines_rows),
    XLSX: _spreadsheet_rows, PARQUET: _parquet_rows, ARROW: _arrow_rows, ZIP: _zip_rows,
    **dict.fromkeys(YAML_ENDINGS, _yaml_rows),
}  # fmt: skip
"""For each ending, a function of (path, names, encoding, turns) that yields the arguments of `_checked_row`."""


def _checked_row(row, question, answer, problem, opening=None):
    if problem:
        return row, question, answer, problem, None
    question, answer = question.strip(), answer.strip()
    return row, question, answer, pair_problem(question, answer), opening or question
