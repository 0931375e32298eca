"""Loads question-answer pairs from files into DataFrames."""

import os
import warnings
from collections.abc import Sequence

import pandas

from keras_transformer.data.catalog import packaged_file
from keras_transformer.data.columns import MOST_NAMED, listing
from keras_transformer.data.readers import corpus_label, corpus_paths, read_rows
from keras_transformer.errors import InputError, NoPairs
from keras_transformer.language import translate as _

CHUNK = 100_000  # Number of pairs in a chunk, which is held in memory at a time.


class CorpusWarning(UserWarning):
    """Some rows of a corpus are unusable and were left out."""


def load_pairs(
    path: str | os.PathLike | Sequence[str | os.PathLike], question: str | None = None, answer: str | None = None,
    encoding: str = "utf-8", turns: int = 1,
) -> pandas.DataFrame:  # fmt: skip
    """Loads the question-answer pairs of a corpus.

    Unusable rows are left out and listed in one `CorpusWarning`.

    Args:
        path: A file of one of these formats: CSV, TSV, tab-separated text, JSON, JSONL, XLSX, Parquet, Arrow, YAML of
            ChatterBot or Rasa, an exported chat of KakaoTalk, a ZIP file of OPUS; text may be compressed (.gz). Or a
            list of two parallel text files, where line i of the second answers line i of the first. A JSON object may
            be a conversation instead of a pair: {"turns": ["안녕", "네, 안녕하세요", …]}, where each turn answers the
            previous ones. Or "small_talk", the name of the corpus that comes with this package.
        question: Name of the question column (JSONL: the key). None detects it by common names. A file with two columns
            and no header needs no name.
        answer: Name of the answer column; required if `question` is given.
        encoding: Encoding of the file.
        turns: Maximum number of conversation turns in a question, one per line.

    Returns:
        A DataFrame with the columns "question" and "answer", stripped of surrounding white space. If there are
        conversations, the column "opening" holds the first turn of each.

    Raises:
        InputError: If the file cannot be read, its columns are unknown, or no row is usable.

    Example:
        >>> with open("pairs.csv", "w") as file:
        ...     print("question,answer", "hello,Hi!", "bye,See you!", sep=chr(10), file=file)
        >>> load_pairs("pairs.csv").values.tolist()
        [['hello', 'Hi!'], ['bye', 'See you!']]
    """
    path = packaged_file(path) or path
    pairs = pandas.concat(list(read_chunks(path, question, answer, encoding, turns)), ignore_index=True)
    conversations = (pairs["opening"] != pairs["question"]).any()
    return pairs[["question", "answer", *(["opening"] if conversations else [])]]


def read_chunks(path, question=None, answer=None, encoding="utf-8", turns=1):
    """Yields the pairs of a corpus in chunks, as from `load_pairs` but always with the column "opening".

    The additional columns "file" and "row" hold the source of each pair.
    """
    label, faults, unusable, usable, chunk = corpus_label(path), [], 0, 0, []
    name = " + ".join(os.path.basename(file) for file in corpus_paths(path))
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # The same name in every locale.
    for row, question_text, answer_text, problem, opening in read_rows(path, question, answer, encoding, turns):
        if problem:
            unusable += 1
            faults += [_("row {row}: {problem}", row=row, problem=_(problem))] if len(faults) < MOST_NAMED else []
            continue
        usable += 1
        chunk.append((question_text, answer_text, opening, row))
        if len(chunk) == CHUNK:
            yield table_of(chunk, name)
            chunk = []
    if chunk:
        yield table_of(chunk, name)
    left_out = left_out_message(label, faults, unusable, usable) if unusable else None
    if not usable:
        empty = _("{path}: no question-answer pair in it", path=label)
        raise NoPairs(f"{empty} ({faults[0]})" if faults else empty, left_out)
    if left_out:
        warnings.warn(left_out, CorpusWarning, stacklevel=3)


def left_out_message(label, faults, unusable, usable):
    """Returns the message about unusable rows.

    Args:
        label: Name of the corpus.
        faults: The first rows with their problems.
        unusable: Number of these rows.
        usable: Number of the other rows.
    """
    named = listing(faults, "; ")
    if unusable > len(faults):
        named = _("{faults}; … and {count} more", faults=named, count=unusable - len(faults))
    return _(
        "{path}: {left_out} of {rows} rows left out: {faults}",
        path=label,
        left_out=unusable,
        rows=usable + unusable,
        faults=named,
    )


def table_of(rows, name):
    """Returns a DataFrame of rows (question, answer, opening, row number) of the file with this name."""
    return pandas.DataFrame(rows, columns=["question", "answer", "opening", "row"]).assign(file=name)


def check_pairs(pairs):
    """Returns a DataFrame of pairs; raises `InputError` unless it is valid like those of `load_pairs`."""
    for column in ("question", "answer"):
        if column not in pairs.columns:
            raise InputError(
                _(
                    "the pairs have no column {column!r}; they have {columns}",
                    column=column,
                    columns=", ".join(map(repr, pairs.columns)),
                )
            )
        for row, text in enumerate(pairs[column]):
            if not isinstance(text, str) or not text.strip():
                raise InputError(
                    _(
                        "row {row} of the pairs: {column} must be non-empty text, not {text!r}",
                        row=row,
                        column=column,
                        text=text,
                    )
                )
    return pairs
