"""The rows of the files that people have: CSV, TSV, JSONL, or two parallel text files."""

import itertools
import os
import unicodedata

from keras_transformer.data.conversations import answered_turns, turns_of
from keras_transformer.data.records import NUL, delimited_records, json_records, long_fields, read_lines
from keras_transformer.errors import InputError

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
