"""Question-answer pairs from files, as tables."""

import os
import warnings

import pandas

from keras_transformer.data.readers import MOST_NAMED, corpus_label, corpus_paths, listing, read_rows
from keras_transformer.errors import InputError

CHUNK = 100_000  # Pairs of a file that are in memory at a time, where it is read in chunks.


class CorpusWarning(UserWarning):
    """Some rows of a corpus could not be used and were left out."""


def load_pairs(path, question=None, answer=None, encoding="utf-8", turns=1):
    """Reads the question-answer pairs of a corpus.

    Rows that cannot be used are left out and named in one `CorpusWarning`.

    Args:
        path: A .csv, .tsv, .txt (tab-separated), .jsonl or .ndjson file; or a list of two text files, where line i of
            the first is answered by line i of the second. A JSON object may be a conversation instead of a pair:
            {"turns": ["안녕", "네, 안녕하세요", …]}, in which each turn answers those before it.
        question: Name of the column (JSONL: the key) of questions; None finds it by the usual names. A file of two
            columns without a header needs no name.
        answer: The same for the answers; to be given if `question` is.
        encoding: Encoding of the file.
        turns: Turns of a conversation that a question holds at most, as its lines.

    Returns:
        A DataFrame with the columns "question" and "answer", text without surrounding white space; and if there are
        conversations, "opening", the first turn of each.

    Raises:
        InputError: If the file cannot be read, its columns cannot be told, or no row is usable.
    """
    pairs = pandas.concat(list(read_chunks(path, question, answer, encoding, turns)), ignore_index=True)
    conversations = (pairs["opening"] != pairs["question"]).any()
    return pairs[["question", "answer", *(["opening"] if conversations else [])]]


def read_chunks(path, question=None, answer=None, encoding="utf-8", turns=1):
    """Yields the pairs of a corpus, some at a time, as `load_pairs` returns them but always with their openings.

    The columns "file" and "row" say where each comes from.
    """
    label, faults, unusable, usable, chunk = corpus_label(path), [], 0, 0, []
    name = " + ".join(os.path.basename(one) for one in corpus_paths(path))
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # As where the locale is UTF-8.
    for row, asked, answered, problem, opening in read_rows(path, question, answer, encoding, turns):
        if problem:
            unusable += 1
            faults += [f"row {row}: {problem}"] if len(faults) < MOST_NAMED else []
            continue
        usable += 1
        chunk.append((asked, answered, opening, row))
        if len(chunk) == CHUNK:
            yield table_of(chunk, name)
            chunk = []
    if chunk:
        yield table_of(chunk, name)
    if not usable:
        raise InputError(f"{label}: no question-answer pair in it" + (f" ({faults[0]})" if faults else ""))
    if unusable:
        named = listing(faults, "; ") + (f"; … and {unusable - len(faults)} more" if unusable > len(faults) else "")
        warnings.warn(f"{label}: {unusable} of {usable + unusable} rows left out: {named}", CorpusWarning, stacklevel=3)


def table_of(rows, name):
    """Rows of a question, its answer, its opening and its number in the file of that name as a DataFrame."""
    return pandas.DataFrame(rows, columns=["question", "answer", "opening", "row"]).assign(file=name)


def check_pairs(pairs):
    """Pairs that a program made, checked: raises `InputError` unless they are as `load_pairs` returns them."""
    for column in ("question", "answer"):
        if column not in pairs.columns:
            raise InputError(f"the pairs have no column {column!r}; they have {', '.join(map(repr, pairs.columns))}")
        for row, text in enumerate(pairs[column]):
            if not isinstance(text, str) or not text.strip():
                raise InputError(f"row {row} of the pairs has no {column}, but {text!r}")
    return pairs
