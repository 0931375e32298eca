"""One reading of a corpus: how its files are written, numbers of every pair, the texts of a sample."""

import array
import codecs
import collections
import dataclasses
import os
import random
import re
import unicodedata

import numpy as np

from keras_transformer.data.quality.near_duplicates import likeness_key
from keras_transformer.data.quality.statistics import Rows
from keras_transformer.data.quality.text_issues import CharacterCount, text_faults
from keras_transformer.data.readers import read_lines
from keras_transformer.data.split import PARTS, part

LINE_ENDS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
ESCAPED = re.compile("[\udc80-\udcff]")  # What "surrogateescape" makes of bytes that are not UTF-8.


@dataclasses.dataclass(frozen=True)
class File:
    """How a file is written.

    Attributes:
        path: Its path.
        encoding: The encoding it was read in.
        size: Bytes.
        mark: Whether it starts with the byte-order mark of UTF-8.
        line_ends: How many lines end with "LF", "CRLF" or "CR".
    """

    path: str
    encoding: str
    size: int
    mark: bool
    line_ends: dict


def examine_file(path, encoding):
    """How a file is written; raises `InputError` if it cannot be read in that encoding."""
    ends = collections.Counter(line[len(line.rstrip("\r\n")) :] for line in read_lines(path, encoding))
    line_ends = {name: ends[end] for end, name in LINE_ENDS.items() if ends[end]}
    with open(path, "rb") as file:
        mark = file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    return File(str(path), encoding, os.path.getsize(path), mark, line_ends)


def stray_lines(path):
    """The lines that are not UTF-8 in a file that is but for them, as `Rows`; none if it is in another encoding."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        stray, sound = [], 0
        for number, line in enumerate(file, 1):
            if ESCAPED.search(line):
                stray.append(number)
            elif not line.isascii():
                sound += 1
    return Rows.of(stray) if len(stray) < sound else Rows()


SAMPLE = 50_000  # Pairs whose texts are kept.

# Of each pair: its row, its part of the split, hashes of its texts and of what its question is but for its spelling,
# and the characters of its texts.
COLUMNS = {
    "row": "I", "part": "B", "question": "q", "answer": "q", "key": "q", "question_length": "I", "answer_length": "I",
}  # fmt: skip


class Survey:
    """What is kept of a corpus: 37 bytes a pair, and the texts of `SAMPLE` pairs at most.

    Texts are told from one another by Python's 64-bit hash: among a million, two different ones are taken for equal
    with a probability of 3 in 100 million.

    Args:
        rows: What `read_rows` yields.

    Attributes:
        left_out: From each problem to the `Rows` that have it.
        faults: From each of the names in `faults.FAULTS` that some text has to the `Rows`.
        characters: The `CharacterCount` of all texts.
        sample: (row, part, question, answer) of pairs drawn at random, the same ones whenever the corpus is the same.
        pairs: From each of `COLUMNS` to an array with a number for every pair.
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
        question, answer = unicodedata.normalize("NFC", question), unicodedata.normalize("NFC", answer)
        number = PARTS.index(part(opening))
        key = hash(likeness_key(question))
        values = row, number, hash(question), hash(answer), key, len(question), len(answer)
        for column, value in zip(self._columns.values(), values):
            column.append(value)
        self.characters.add(row, question)
        self.characters.add(row, answer)
        self._draw((row, number, question, answer))

    def _draw(self, pair):
        """Keeps a pair as one of the sample (reservoir sampling: every pair has the same chance)."""
        if len(self.sample) < SAMPLE:
            self.sample.append(pair)
        elif (place := self._random.randrange(len(self))) < SAMPLE:
            self.sample[place] = pair
