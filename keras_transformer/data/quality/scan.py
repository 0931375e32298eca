"""One reading of a corpus: of every pair its numbers are kept, of a sample the texts."""

import array
import random
import unicodedata

import numpy as np

from keras_transformer.data.quality.characters import CharacterCount
from keras_transformer.data.quality.faults import text_faults
from keras_transformer.data.quality.likeness import likeness_key
from keras_transformer.data.quality.rows import Rows
from keras_transformer.data.split import PARTS, part

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
