"""Pairs of text as token ids."""

import array
import tempfile
import warnings

import numpy as np

from keras_transformer.data.loading import CorpusWarning
from keras_transformer.errors import NO_ROOM, DiskFull, InputError
from keras_transformer.text.normalize import normalize
from keras_transformer.text.turns import question_ids

MOST_NAMED = 3  # Pairs that a warning names.


class EncodedPairs:
    """A corpus as token ids, which lie one after the other: question, answer, and so on.

    Args:
        ids: All token ids, a vector in memory or in a file.
        starts: Where each text starts in it, and the last ends, integers (2 · pairs + 1,).
        characters: Number of characters of the answers.
    """

    def __init__(self, ids, starts, characters):
        self.ids, self._starts, self.characters = ids, starts, characters

    def __len__(self):
        return len(self._starts) // 2

    def question(self, pair):
        """The question of a pair from start to end token, integers (length,)."""
        return self.ids[self._starts[2 * pair] : self._starts[2 * pair + 1]]

    def answer(self, pair):
        """The answer, likewise."""
        return self.ids[self._starts[2 * pair + 1] : self._starts[2 * pair + 2]]

    @property
    def tokens(self):
        """Number of answer tokens to predict, end tokens included."""
        return int(self.lengths[:, 1].sum())

    @property
    def lengths(self):
        """Token counts (pairs, 2), int32: of each question, and of each answer as the decoder reads it."""
        return np.diff(self._starts).astype("int32").reshape(-1, 2) - np.array([0, 1], "int32")


class PairEncoder:
    """Encodes pairs into a temporary file, so that they may be more than fit into memory; to be used in a `with` block.

    Args:
        tokenizer: The `Tokenizer` of the questions.
        max_length: Tokens a question or an answer may have, start and end included; longer pairs are left out. None for
            no limit.
        target_tokenizer: The `Tokenizer` of the answers; None for the same.
        turns: Turns of a conversation to read at most; see `question_ids`.
    """

    def __init__(self, tokenizer, max_length=None, target_tokenizer=None, turns=1):
        self.tokenizer, self.target = tokenizer, target_tokenizer or tokenizer
        self.max_length, self.turns = max_length, turns
        self._dtype = np.min_scalar_type(max(self.tokenizer.vocab_size, self.target.vocab_size))
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it has no name: nothing of it stays, however this ends)
        self._lengths, self._characters = array.array("i"), 0
        self._long, self._named = 0, []  # How many pairs are too long, and the first few of their questions.

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def add(self, pairs):
        """Encodes pairs, a DataFrame with the columns "question" and "answer".

        Raises:
            DiskFull: If there is no room for them.
        """
        try:
            self._add(pairs)
            self._file.flush()
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            raise DiskFull(
                error.errno,
                f"{NO_ROOM[error.errno]}: the corpus as token ids does not fit into {tempfile.gettempdir()}: make "
                "room, or name another folder by the environment variable TMPDIR",
            ) from error

    def _add(self, pairs):
        texts = list(pairs["question"]), list(pairs["answer"])
        ids = token_ids(*texts, self.tokenizer, self.target, self.max_length, self.turns)
        for asked, text, (question, answer) in zip(*texts, ids):
            if self.max_length is not None and max(len(question), len(answer)) > self.max_length:
                self._long += 1
                self._named += [repr(asked[:40])] if len(self._named) < MOST_NAMED else []
                continue
            self._file.write(np.array(question + answer, self._dtype))
            self._lengths.extend((len(question), len(answer)))
            self._characters += len(normalize(text))

    def finish(self):
        """The `EncodedPairs` of all that was added, with a `CorpusWarning` of those left out.

        Raises:
            InputError: If no pair is left.
        """
        if self._long:
            self._warn_of_long_pairs()
        if not self._lengths:
            raise InputError(f"no pair of at most {self.max_length} tokens: nothing to make batches of")
        starts = np.zeros(len(self._lengths) + 1, "int64")
        np.cumsum(self._lengths, out=starts[1:])
        return EncodedPairs(np.memmap(self._file, self._dtype, "r"), starts, self._characters)

    def _warn_of_long_pairs(self):
        """Counts and names them."""
        named = "; ".join(self._named) + ("; …" if self._long > len(self._named) else "")
        total = self._long + len(self._lengths) // 2
        warnings.warn(
            f"{self._long} of {total} pairs are longer than {self.max_length} tokens and left out: {named}",
            CorpusWarning,
            stacklevel=4,
        )


def token_ids(questions, answers, tokenizer, target_tokenizer, max_length=None, turns=1):
    """For each pair of texts its ids, the question's and the answer's, both from start to end token; none is cut."""
    start, end = target_tokenizer.start_id, target_tokenizer.end_id
    asked = question_ids(tokenizer, questions, turns, max_length)
    return list(zip(asked, ([start, *ids, end] for ids in target_tokenizer.encode(answers))))


def encode_pairs(pairs, tokenizer, max_length=None, target_tokenizer=None, turns=1):
    """The `EncodedPairs` of a DataFrame; arguments and errors are those of `PairEncoder`."""
    with PairEncoder(tokenizer, max_length, target_tokenizer, turns) as encoder:
        encoder.add(pairs)
        return encoder.finish()
