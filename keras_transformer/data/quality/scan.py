"""Scans a corpus once: the format of its files, numbers for every pair, and the texts of a sample."""

import array
import codecs
import collections
import contextlib
import dataclasses
import io
import os
import random

import numpy as np

from keras_transformer.data.quality.near_duplicates import likeness_key
from keras_transformer.data.quality.statistics import Rows
from keras_transformer.data.quality.text_issues import CharacterCount, text_faults
from keras_transformer.data.readers import ending_of, is_text
from keras_transformer.data.split import SPLITS, split_name
from keras_transformer.data.text_files import ESCAPED, UNREADABLE, encoding_of, open_bytes, read_lines
from keras_transformer.text.normalize import compose

LINE_ENDS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


@dataclasses.dataclass(frozen=True)
class File:
    """The format of a file.

    Attributes:
        path: Path of the file.
        encoding: Encoding that the file was read with; of a file that is not text, its format, such as "XLSX".
        size: Size in bytes.
        mark: Whether it starts with a UTF-8 byte-order mark.
        line_ends: Dictionary of the number of lines that end with "LF", "CRLF" or "CR"; None if it is not text.
    """

    path: str
    encoding: str
    size: int
    mark: bool
    line_ends: dict | None


def examine_file(path, encoding):
    """Returns the `File` format of a path; raises `InputError` if it cannot be read with the encoding, or its own."""
    if not is_text(path):
        return File(str(path), ending_of(path)[1:].upper(), os.path.getsize(path), mark=False, line_ends=None)
    encoding = encoding or encoding_of(path)
    ends = collections.Counter(line[len(line.rstrip("\r\n")) :] for line in read_lines(path, encoding))
    line_ends = {name: ends[end] for end, name in LINE_ENDS.items() if ends[end]}
    with open_bytes(path) as file:
        mark = file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    return File(str(path), encoding, os.path.getsize(path), mark, line_ends)


def stray_lines(path):
    """Returns the `Rows` of the invalid lines in a file that is mostly UTF-8; empty for others, and damaged ones."""
    stray, sound = [], 0
    with (
        contextlib.suppress(*UNREADABLE),
        io.TextIOWrapper(open_bytes(path), "utf-8-sig", "surrogateescape", newline="") as file,
    ):
        for number, line in enumerate(file, 1):
            if ESCAPED.search(line):
                stray.append(number)
            elif not line.isascii():
                sound += 1
    return Rows.of(stray) if len(stray) < sound else Rows()


SAMPLE = 50_000  # Maximum number of pairs whose texts are kept.

# Columns of each pair: row, split, hashes of question and answer, hash of the question's `likeness_key`, and the
# lengths of both texts in characters.
COLUMNS = {
    "row": "I", "split": "B", "question": "q", "answer": "q", "key": "q", "question_length": "I", "answer_length": "I",
}  # fmt: skip


class CorpusScan:
    """Statistics of a corpus, which need 37 bytes per pair and the texts of at most `SAMPLE` pairs.

    Texts are compared by Python's 64-bit hash. Among a million texts, the probability that two different ones have the
    same hash is 3 in 100 million.

    Args:
        rows: Rows from `read_rows`.

    Attributes:
        left_out: Dictionary from each problem to the `Rows` that have it.
        faults: Dictionary from the names in `text_issues.FAULTS` to the `Rows` that have them.
        characters: The `CharacterCount` of all texts.
        sample: Reproducible random sample of (row, split, question, answer).
        pairs: Dictionary from each of `COLUMNS` to an array with a number for every pair.
    """

    def __init__(self, rows):
        self.left_out, self.faults, self.sample = {}, {}, []
        self.characters = CharacterCount()
        self._random = random.Random(0)
        self._columns = {name: array.array(code) for name, code in COLUMNS.items()}
        for row, question, answer, problem, opening in rows:
            if problem:
                self.left_out[problem] = self.left_out.get(problem, Rows()).with_row(row)
            else:
                self._add(row, question, answer, opening)
        self.pairs = {name: np.asarray(column) for name, column in self._columns.items()}

    def __len__(self):
        return len(self._columns["row"])

    def _add(self, row, question, answer, opening):
        for fault in dict.fromkeys([*text_faults(question), *text_faults(answer)]):
            self.faults[fault] = self.faults.get(fault, Rows()).with_row(row)
        question, answer = compose(question), compose(answer)
        number = SPLITS.index(split_name(opening))
        key = hash(likeness_key(question))
        values = row, number, hash(question), hash(answer), key, len(question), len(answer)
        for column, value in zip(self._columns.values(), values):
            column.append(value)
        self.characters.add(row, question)
        self.characters.add(row, answer)
        self._draw((row, number, question, answer))

    def _draw(self, pair):
        """Adds a pair to the sample by reservoir sampling, so that every pair has the same probability."""
        if len(self.sample) < SAMPLE:
            self.sample.append(pair)
        elif (place := self._random.randrange(len(self))) < SAMPLE:
            self.sample[place] = pair
