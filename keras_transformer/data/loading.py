"""Loads question-answer pairs from a file into DataFrames, in chunks."""

import os
import warnings

import pandas

from keras_transformer.data.columns import MOST_NAMED, listing
from keras_transformer.data.readers import corpus_label, corpus_paths, is_text, read_rows
from keras_transformer.data.text_files import UTF_8, encoding_of
from keras_transformer.errors import InputError, NoPairs
from keras_transformer.language import translate as _

CHUNK = 100_000  # Number of pairs in a chunk, which is held in memory at a time.


class CorpusWarning(UserWarning):
    """Some rows of a corpus are unusable and were left out, or a file is not UTF-8 and was read in its own encoding."""


def read_chunks(path, question=None, answer=None, encoding=None, turns=1):
    """Yields the pairs of a file, or of two parallel ones, in chunks.

    The arguments are those of `load_pairs`. The column "opening" holds the first turn of a conversation or else the
    question, and the columns "file" and "row" the source of each pair.
    """
    label, faults, unusable, usable, chunk = corpus_label(path), [], 0, 0, []
    name = " + ".join(os.path.basename(file) for file in corpus_paths(path))
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # The same name in every locale.
    for message in encoding_messages(path, encoding):
        warnings.warn(message, CorpusWarning, stacklevel=4)
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
        warnings.warn(left_out, CorpusWarning, stacklevel=4)  # Of the caller of `load_pairs`.


def encoding_messages(path, encoding):
    """Yields the messages about the files of a corpus that are not UTF-8, if no `encoding` was given to read them."""
    for file in corpus_paths(path) if encoding is None else ():
        if is_text(file) and (found := encoding_of(file)) != UTF_8:
            yield _("{path}: not UTF-8; read as {encoding}", path=file, encoding=found.upper())


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
