"""Readers of corpus files: CSV, TSV, JSONL with conversations, two parallel files."""

import codecs
import collections
import contextlib
import csv
import itertools
import json
import os
import re
import unicodedata

from keras_transformer.errors import InputError
from keras_transformer.text.turns import BETWEEN

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


TURNS_NAMES = ("turns", "messages", "dialog", "dialogue", "conversation", "conversations", "utterances", "대화")
ROLE_NAMES = ("role", "from")
SILENT = ("system", "developer", "tool", "function")  # Roles of what nobody says.
TEXT_NAMES = ("content", "text", "utterance", "value", "발화", "내용")


def turns_of(record):
    """The turns of a conversation that a JSON object holds.

    Args:
        record: The object: a list under one of `TURNS_NAMES`, of texts, or of objects with one of `TEXT_NAMES`.

    Returns:
        A list, of texts where the record is as it should be, without what systems and tools say; None if it holds no
        conversation.
    """
    turns = next((record[name] for name in TURNS_NAMES if isinstance(record.get(name), list)), None)
    return None if turns is None else [text_of(turn) for turn in turns if not is_silent(turn)]


def is_silent(turn):
    """Whether a turn is an object that says it is nobody's."""
    return isinstance(turn, dict) and any(turn.get(name) in SILENT for name in ROLE_NAMES)


def text_of(turn):
    """The text of a turn that may be an object."""
    if not isinstance(turn, dict):
        return turn
    return next((turn[name] for name in TEXT_NAMES if name in turn), None)


def answered_turns(turns, limit):
    """Every turn but the first is an answer to those before it.

    Args:
        turns: Texts.
        limit: Turns that a question holds at most, the last ones.

    Yields:
        (question, answer); the turns of a question are its lines.
    """
    lines = [" ".join(turn.split()) for turn in turns]
    for i in range(1, len(lines)):
        yield BETWEEN.join(lines[max(0, i - limit) : i]), lines[i]


DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
JSON_ENDINGS = (".jsonl", ".ndjson")
ENDINGS = (*DELIMITERS, *JSON_ENDINGS)

# Compared without case; where a header holds several, the earliest here is taken.
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
        turns: Turns that a question holds at most, where a row is a conversation, which gives several pairs.

    Returns:
        An iterator of (row, question, answer, problem, opening): the number of the row's first line from 1, the texts
        without surrounding white space, what makes the row unusable (None if nothing does; else the texts mean
        nothing), and the first turn of a conversation, otherwise the question. While it is read, it raises `InputError`
        if the file cannot be.

    Raises:
        InputError: If it is plain from the arguments that they name no corpus.
    """
    if (question is None) != (answer is None):
        raise InputError("give both --question and --answer, or neither")
    names = None if question is None else (question, answer)
    return itertools.starmap(_checked_row, _rows(corpus_paths(path), names, encoding, turns))


def corpus_paths(path):
    """The files of a corpus that is given as one path or as several."""
    return [path] if isinstance(path, (str, os.PathLike)) else list(path)


def corpus_label(path):
    """The corpus as messages name it."""
    return " + ".join(map(str, corpus_paths(path)))


def _rows(paths, names, encoding, turns):
    """(row, question, answer, problem) of each row of the corpus; where there is a problem, no text."""
    if len(paths) == 2:
        if names:
            raise InputError("--question and --answer name columns, and two parallel text files have none")
        for path in paths:
            if os.path.splitext(path)[1].lower() in (".csv", *JSON_ENDINGS):
                raise InputError(f"{path}: holds pairs by itself; two files are parallel text; give it alone")
        return _parallel_rows(paths, encoding)
    if len(paths) != 1:
        raise InputError(f"give one corpus file, or two parallel text files, not {len(paths)}")
    path = paths[0]
    ending = os.path.splitext(path)[1].lower()
    if ending in JSON_ENDINGS:
        return _json_rows(path, names, encoding, turns)
    if ending in DELIMITERS:
        return _delimited_rows(path, DELIMITERS[ending], names, encoding)
    if os.path.isdir(path):
        raise InputError(f"{path}: a folder, not a file")
    if not ending and not os.path.exists(path):
        raise InputError(f"{path}: no such file")
    raise InputError(f"{path}: cannot tell what is in it by its name, which should end in one of {', '.join(ENDINGS)}")


def _checked_row(row, question, answer, problem, opening=None):
    if problem:
        return row, question, answer, problem, None
    question, answer = question.strip(), answer.strip()
    return row, question, answer, _pair_problem(question, answer), opening or question


def _pair_problem(question, answer):
    if not question:
        return "no question"
    if not answer:
        return "no answer"
    return NUL if "\0" in question or "\0" in answer else None


def _parallel_rows(paths, encoding):
    lines = itertools.zip_longest(*(read_lines(path, encoding) for path in paths))
    for row, (question, answer) in enumerate(lines, 1):
        if question is None or answer is None:
            longer = row + sum(1 for _ in lines)
            counts = [row - 1 if text is None else longer for text in (question, answer)]
            raise InputError(
                f"{paths[0]} has {counts[0]} lines and {paths[1]} has {counts[1]}: "
                "line i of the first must be answered by line i of the second"
            )
        if not (question.isspace() and answer.isspace()):
            yield row, question, answer, None


def _delimited_rows(path, delimiter, names, encoding):
    with long_fields():
        columns = None
        for row, cells, problem in delimited_records(read_lines(path, encoding), delimiter):
            if columns is None:
                if problem:
                    raise InputError(f"{path}: row {row}: {problem}, and the first row must tell the columns")
                columns = _find_columns(path, cells, names)
                if columns:
                    continue
                if len(cells) != 2:
                    raise _unknown_columns(path, cells, "question or answer")
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
        said = turns_of(record) if names is None else None
        if said or (said is not None and keys is None):
            yield from _conversation_rows(row, said, turns)
            continue
        if keys is None:
            present = list(record)
            columns = _find_columns(path, present, names)
            if columns is None:
                raise _unknown_columns(path, present, "question or answer")
            keys = [present[column] for column in columns]
        question, answer = (record.get(key) for key in keys)
        yield row, question or "", answer or "", _json_problem(question, "question") or _json_problem(answer, "answer")


def _conversation_rows(row, said, turns):
    problems = (_turn_problem(text, number) for number, text in enumerate(said, 1))
    problem = next(filter(None, problems), None) or ("no two turns" if len(said) < 2 else None)
    if problem:
        yield row, None, None, problem
        return
    for question, answer in answered_turns(said, turns):
        yield row, question, answer, None, said[0].strip()


def _turn_problem(text, number):
    return _json_problem(text, f"turn {number}") or (None if text.strip() else f"no turn {number}")


def _json_problem(value, what):
    if value is None:
        return f"no {what}"
    if not isinstance(value, str):
        return f"{what} is not a string"
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can escape half of a character ("\ud83d"); no file can hold it, nor TensorFlow.
        return f"{what} holds half a character"
    return None


def _find_columns(path, present, names):
    """Positions of the question's and the answer's column among those present; None if neither has a known name."""
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
        raise _unknown_columns(path, present, "question")
    if answer is None:
        raise _unknown_columns(path, present, "answer")
    return question, answer


def _position(path, present, name):
    if name not in present:
        raise InputError(f"{path}: no column named {name!r}; there are {listing(present)}")
    return present.index(name)


def _unknown_columns(path, present, missing):
    named = "name the columns with --question and --answer"
    return InputError(f"{path}: no column known as {missing} among {listing(present)}; {named}")


def listing(texts, separator=", "):
    """The first few of the texts in one line, shortened, and how many more there are."""
    shown = [" ".join(text.split()) for text in texts[:MOST_NAMED]]
    shown = [text if len(text) <= 60 else text[:59] + "…" for text in shown]
    if more := len(texts) - len(shown):
        shown.append(f"… and {more} more")
    return separator.join(shown)
