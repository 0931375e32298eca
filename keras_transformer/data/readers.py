"""Readers of corpus files: CSV, TSV, JSONL with conversations, two parallel files."""

import codecs
import collections
import contextlib
import csv
import difflib
import itertools
import json
import os
import re
import unicodedata

from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.text.turns import BETWEEN

BROKEN_QUOTES = translatable("broken quotes")
LONGEST_RECORD = 10_000  # Maximum lines of a record. An unclosed quote would otherwise read the whole file into memory.
NUL = translatable("NUL character")
MISSING = {"question": translatable("no question"), "answer": translatable("no answer")}


def read_lines(path, encoding="utf-8"):
    """Yields the lines of a text file with their line ends (CRLF, LF or CR).

    Raises:
        InputError: If the file cannot be read, or has another encoding.
    """
    with open_text(path, encoding) as file:
        try:
            yield from file
        except UnicodeDecodeError:
            raise InputError(_decoding_fault(path, file.encoding)) from None
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from None


def open_text(path, encoding="utf-8"):
    """Opens a text file without converting line ends; raises `InputError` if the file or the encoding is unknown."""
    if os.path.isdir(path):
        raise InputError(_("{path}: a folder, not a file", path=path))
    try:
        # A byte-order mark belongs to the encoding, not to the name of the first column.
        codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
        return open(path, encoding=codec, newline="")
    except FileNotFoundError:
        raise InputError(_("{path}: no such file", path=path)) from None
    except LookupError:
        raise InputError(
            _("no text encoding is named {encoding!r}; try utf-8, cp949 or utf-16", encoding=encoding)
        ) from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path, error):
    return InputError(
        _("{path}: cannot be read: {reason}", path=path, reason=getattr(error, "strerror", None) or error)
    )


def _decoding_fault(path, codec):
    """Returns a message with the first line that cannot be decoded, and with the probable encoding."""
    with open(path, "rb") as file:
        data = file.read()
    name = "UTF-8" if codec == "utf-8-sig" else codec
    line = _first_undecodable_line(data, codec)
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


@contextlib.contextmanager
def long_fields():
    """Context manager that lets the csv module read fields of any length; restores the process-wide limit."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


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


TURNS_NAMES = ("turns", "messages", "dialog", "dialogue", "conversation", "conversations", "utterances", "대화")
ROLE_NAMES = ("role", "from")
SILENT = ("system", "developer", "tool", "function")  # Roles that are not part of the conversation.
TEXT_NAMES = ("content", "text", "utterance", "value", "발화", "내용")


def turns_of(record):
    """Returns the turns of a conversation in a JSON object.

    Args:
        record: The object, with a list under one of `TURNS_NAMES`. Its elements are texts, or objects with one of
            `TEXT_NAMES`.

    Returns:
        A list without the messages of systems and tools; its elements are texts if the record is valid. None if there
        is no conversation.
    """
    turns = next((record[name] for name in TURNS_NAMES if isinstance(record.get(name), list)), None)
    return None if turns is None else [text_of(turn) for turn in turns if not is_silent(turn)]


def is_silent(turn):
    """Returns whether a turn is an object whose role is not part of the conversation."""
    return isinstance(turn, dict) and any(turn.get(name) in SILENT for name in ROLE_NAMES)


def text_of(turn):
    """Returns the text of a turn, which may be an object."""
    if not isinstance(turn, dict):
        return turn
    return next((turn[name] for name in TEXT_NAMES if name in turn), None)


def answered_turns(turns, limit):
    """Yields a pair for every turn but the first; its question is the previous turns.

    Args:
        turns: Texts.
        limit: Maximum number of turns in a question; earlier turns are dropped.

    Yields:
        (question, answer); each turn of a question is a line.
    """
    lines = [" ".join(turn.split()) for turn in turns]
    for i in range(1, len(lines)):
        yield BETWEEN.join(lines[max(0, i - limit) : i]), lines[i]


DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
JSON_ENDINGS = (".jsonl", ".ndjson")
ENDINGS = (*DELIMITERS, *JSON_ENDINGS)

# Compared case-insensitively; if a header has several of them, the first in this order is used.
QUESTION_NAMES = (
    "question", "questions", "q", "query", "input", "inputs", "source", "src", "prompt", "질문", "입력",
)  # fmt: skip
ANSWER_NAMES = (
    "answer", "answers", "a", "reply", "response", "output", "outputs", "target", "tgt", "completion",
    "답변", "답", "대답", "응답", "출력",
)  # fmt: skip

MOST_NAMED = 10  # Faulty rows, or columns, that a message lists.


def read_rows(path, question=None, answer=None, encoding="utf-8", turns=1):
    """Reads a corpus row by row, without holding it in memory.

    Args:
        path: As in `load_pairs`, like the others.
        question: Name of the column of questions.
        answer: Name of the column of answers.
        encoding: Encoding of the file.
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


def _rows(paths, names, encoding, turns):
    """Returns an iterator of (row, question, answer, problem); the texts are None if there is a problem."""
    if len(paths) == 2:
        if names:
            raise InputError(_("--question and --answer name columns, but two parallel text files have no columns"))
        for path in paths:
            if os.path.splitext(path)[1].lower() in (".csv", *JSON_ENDINGS):
                raise InputError(
                    _("{path}: contains pairs, but two files must be parallel text; give this file alone", path=path)
                )
        return _parallel_rows(paths, encoding)
    if len(paths) != 1:
        raise InputError(_("give one corpus file, or two parallel text files, not {count}", count=len(paths)))
    path = paths[0]
    ending = os.path.splitext(path)[1].lower()
    if ending in JSON_ENDINGS:
        return _json_rows(path, names, encoding, turns)
    if ending in DELIMITERS:
        return _delimited_rows(path, DELIMITERS[ending], names, encoding)
    if os.path.isdir(path):
        raise InputError(_("{path}: a folder, not a file", path=path))
    if not ending and not os.path.exists(path):
        raise InputError(_("{path}: no such file", path=path))
    raise InputError(
        _("{path}: unknown file type; the name must end in one of {endings}", path=path, endings=", ".join(ENDINGS))
    )


def _checked_row(row, question, answer, problem, opening=None):
    if problem:
        return row, question, answer, problem, None
    question, answer = question.strip(), answer.strip()
    return row, question, answer, _pair_problem(question, answer), opening or question


def _pair_problem(question, answer):
    if not question:
        return MISSING["question"]
    if not answer:
        return MISSING["answer"]
    return NUL if "\0" in question or "\0" in answer else None


def _parallel_rows(paths, encoding):
    lines = itertools.zip_longest(*(read_lines(path, encoding) for path in paths))
    for row, (question, answer) in enumerate(lines, 1):
        if question is None or answer is None:
            longer = row + sum(1 for _ in lines)
            counts = [row - 1 if text is None else longer for text in (question, answer)]
            raise InputError(
                _(
                    "{first} has {first_lines} lines and {second} has {second_lines}: "
                    "line i of the first must be answered by line i of the second",
                    first=paths[0],
                    first_lines=counts[0],
                    second=paths[1],
                    second_lines=counts[1],
                )
            )
        if not (question.isspace() and answer.isspace()):
            yield row, question, answer, None


def _delimited_rows(path, delimiter, names, encoding):
    with long_fields():
        columns = None
        for row, cells, problem in delimited_records(read_lines(path, encoding), delimiter):
            if columns is None:
                if problem:
                    raise InputError(
                        _(
                            "{path}: row {row}: {problem}, but the first row must name the columns",
                            path=path,
                            row=row,
                            problem=problem,
                        )
                    )
                columns = _find_columns(path, cells, names)
                if columns:
                    continue
                if len(cells) != 2:
                    raise _unknown_columns(path, cells, "question or answer")
                if _looks_like_a_header(cells):
                    raise _unknown_header(path, row, cells)
                columns = (0, 1)  # There is no header, and this row is the first pair.
            if problem:
                yield row, None, None, problem
            else:
                yield row, cells[columns[0]], cells[columns[1]], None


def _json_rows(path, names, encoding, turns):
    keys = None
    for row, record, problem in json_records(read_lines(path, encoding)):
        if problem:
            yield row, None, None, problem
            continue
        conversation = turns_of(record) if names is None else None
        if conversation or (conversation is not None and keys is None):
            yield from _conversation_rows(row, conversation, turns)
            continue
        if keys is None:
            present = list(record)
            columns = _find_columns(path, present, names)
            if columns is None:
                raise _unknown_columns(path, present, "question or answer")
            keys = [present[column] for column in columns]
        question, answer = (record.get(key) for key in keys)
        yield row, question or "", answer or "", _json_problem(question, "question") or _json_problem(answer, "answer")


def _conversation_rows(row, conversation, turns):
    problems = (_turn_problem(text, number) for number, text in enumerate(conversation, 1))
    problem = next(filter(None, problems), None) or ("fewer than two turns" if len(conversation) < 2 else None)
    if problem:
        yield row, None, None, problem
        return
    for question, answer in answered_turns(conversation, turns):
        yield row, question, answer, None, conversation[0].strip()


def _turn_problem(text, number):
    return _json_problem(text, f"turn {number}") or (None if text.strip() else f"no turn {number}")


def _json_problem(value, what):
    if value is None:
        return MISSING.get(what, f"no {what}")
    if not isinstance(value, str):
        return f"{what} is not a string"
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can escape a lone surrogate ("\ud83d"), which files and TensorFlow reject.
        return f"{what} contains half a character"
    return None


def _find_columns(path, present, names):
    """Returns the positions of the question and answer columns; None if neither has a known name."""
    present = [unicodedata.normalize("NFC", name).strip() for name in present]
    if names:
        return [_position(path, present, unicodedata.normalize("NFC", name).strip()) for name in names]
    lower = [name.lower() for name in present]
    question, answer = (
        next((lower.index(name) for name in known if name in lower), None) for known in (QUESTION_NAMES, ANSWER_NAMES)
    )
    if question is None and answer is None:
        return None
    if question is None:
        raise _unknown_columns(path, present, translatable("question"))
    if answer is None:
        raise _unknown_columns(path, present, translatable("answer"))
    return question, answer


def _position(path, present, name):
    if name not in present:
        raise InputError(
            _("{path}: no column named {name!r}; there are {names}", path=path, name=name, names=listing(present))
        )
    return present.index(name)


def _unknown_columns(path, present, missing):
    return InputError(
        _(
            "{path}: no known {missing} column among {names}; name the columns with --question and --answer",
            path=path,
            missing=_(missing),
            names=listing(present),
        )
    )


def _unknown_header(path, row, cells):
    return InputError(
        _(
            "{path}: row {row} looks like a header ({names}): name the columns question and answer in it, or give "
            "their names with --question and --answer; if it is a pair, add a header above it",
            path=path,
            row=row,
            names=listing(cells),
        )
    )


def _looks_like_a_header(cells):
    """Returns whether two cells, neither of them a known name, are probably names of columns and not a pair."""
    names = (QUESTION_NAMES, ANSWER_NAMES)
    return any(all(map(_resembles_a_name, cells, order)) for order in (names, names[::-1]))


def _resembles_a_name(cell, names):
    """Returns whether a cell is one of the names, misspelled or with another word. A sentence is none."""
    words = re.split(r"[\s_:]+", unicodedata.normalize("NFC", cell).lower().strip())
    if len(words) > 2 or cell.strip().endswith((".", "?", "!")):
        return False
    names = [name for name in names if len(name) > 1]
    return any(difflib.get_close_matches(word, names, cutoff=0.8) for word in words)


def listing(texts, separator=", "):
    """Returns the first few texts in one line, shortened, and the number of others."""
    shown = [" ".join(text.split()) for text in texts[:MOST_NAMED]]
    shown = [text if len(text) <= 60 else text[:59] + "…" for text in shown]
    if more := len(texts) - len(shown):
        shown.append(_("… and {count} more", count=more))
    return separator.join(shown)
