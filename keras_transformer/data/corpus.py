"""Question-answer pairs from the files that people have: CSV, TSV, JSONL, or two parallel text files."""

import os
import unicodedata
import warnings

import pandas

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


class CorpusWarning(UserWarning):
    """Some rows of a corpus could not be used and were left out."""


def load_pairs(path, question=None, answer=None, encoding="utf-8"):
    """Reads the question-answer pairs of a corpus.

    Rows that cannot be used are left out and named in one `CorpusWarning`.

    Args:
        path: A .csv, .tsv, .txt (tab-separated), .jsonl or .ndjson file; or a list of two text files, where line i of
            the first is answered by line i of the second.
        question: Name of the column (JSONL: the key) of questions; None finds it by the usual names. A file of two
            columns without a header needs no name.
        answer: The same for the answers; to be given if `question` is.
        encoding: Encoding of the file.

    Returns:
        A DataFrame with the columns "question" and "answer", text without surrounding white space.

    Raises:
        InputError: If the file cannot be read, its columns cannot be told, or no row is usable.
    """
    if (question is None) != (answer is None):
        raise InputError("give both --question and --answer, or neither")
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    names = None if question is None else (question, answer)
    questions, answers, faults = _collect(_rows(paths, names, encoding))
    label = " + ".join(str(path) for path in paths)
    if not questions:
        raise InputError(f"{label}: no question-answer pair in it" + (f" ({faults[0]})" if faults else ""))
    if faults:
        count = f"{len(faults)} of {len(questions) + len(faults)} rows left out"
        warnings.warn(f"{label}: {count}: {_listing(faults, '; ')}", CorpusWarning, stacklevel=2)
    return pandas.DataFrame({"question": questions, "answer": answers})


def check_pairs(pairs):
    """Pairs that a program made, checked: raises `InputError` unless they are as `load_pairs` returns them."""
    for column in ("question", "answer"):
        if column not in pairs.columns:
            raise InputError(f"the pairs have no column {column!r}; they have {', '.join(map(repr, pairs.columns))}")
        for row, text in enumerate(pairs[column]):
            if not isinstance(text, str) or not text.strip():
                raise InputError(f"row {row} of the pairs has no {column}, but {text!r}")
    return pairs


def _rows(paths, names, encoding):
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
        return _json_rows(path, names, encoding)
    if ending in DELIMITERS:
        return _delimited_rows(path, DELIMITERS[ending], names, encoding)
    if os.path.isdir(path):
        raise InputError(f"{path}: a folder, not a file")
    raise InputError(f"{path}: cannot tell what is in it by its name, which should end in one of {', '.join(ENDINGS)}")


def _collect(rows):
    """The questions, the answers, and the faults ("row 5: no answer") of `_rows`."""
    questions, answers, faults = [], [], []
    for row, question, answer, problem in rows:
        if problem is None:
            question, answer = question.strip(), answer.strip()
            problem = _pair_problem(question, answer)
        if problem is None:
            questions.append(question)
            answers.append(answer)
        else:
            faults.append(f"row {row}: {problem}")
    return questions, answers, faults


def _pair_problem(question, answer):
    if not question:
        return "no question"
    if not answer:
        return "no answer"
    return NUL if "\0" in question or "\0" in answer else None


def _parallel_rows(paths, encoding):
    questions, answers = (read_lines(path, encoding) for path in paths)
    if len(questions) != len(answers):
        raise InputError(
            f"{paths[0]} has {len(questions)} lines and {paths[1]} has {len(answers)}: "
            "line i of the first must be answered by line i of the second"
        )
    for row, (question, answer) in enumerate(zip(questions, answers, strict=True), 1):
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


def _json_rows(path, names, encoding):
    keys = None
    for row, record, problem in json_records(read_lines(path, encoding)):
        if problem:
            yield row, None, None, problem
            continue
        if keys is None:
            present = list(record)
            columns = _find_columns(path, present, names)
            if columns is None:
                raise _unknown_columns(path, present, "question or answer")
            keys = [present[column] for column in columns]
        question, answer = (record.get(key) for key in keys)
        yield row, question or "", answer or "", _json_problem(question, "question") or _json_problem(answer, "answer")


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
        raise InputError(f"{path}: no column named {name!r}; there are {_listing(present)}")
    return present.index(name)


def _unknown_columns(path, present, missing):
    named = "name the columns with --question and --answer"
    return InputError(f"{path}: no column known as {missing} among {_listing(present)}; {named}")


def _listing(texts, separator=", "):
    """The first few of the texts in one line, shortened, and how many more there are."""
    shown = [" ".join(text.split()) for text in texts[:MOST_NAMED]]
    shown = [text if len(text) <= 60 else text[:59] + "…" for text in shown]
    if more := len(texts) - len(shown):
        shown.append(f"… and {more} more")
    return separator.join(shown)
