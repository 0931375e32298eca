"""Tokenized question-answer pairs."""

import array
import contextlib
import tempfile
import warnings

import numpy as np

from keras_transformer.data.loading import CorpusWarning
from keras_transformer.errors import InputError, temporary_space
from keras_transformer.language import translate as _
from keras_transformer.text.normalize import normalize
from keras_transformer.text.turns import question_ids

MOST_NAMED = 3  # Maximum number of pairs listed in a warning.


class EncodedPairs:
    """A tokenized corpus. All token ids are in one array: question, answer, question, answer, ...

    Args:
        ids: All token ids, a vector in memory or a memory-mapped file.
        starts: Start of each text in `ids`, and the end of the last one, integers (2 · pairs + 1,).
        characters: Number of characters in the answers.
    """

    def __init__(self, ids, starts, characters):
        self.ids, self._starts, self.characters = ids, starts, characters

    def __len__(self):
        return len(self._starts) // 2

    def question(self, pair):
        """Returns the question of a pair with start and end token, integers (length,)."""
        return self.ids[self._starts[2 * pair] : self._starts[2 * pair + 1]]

    def answer(self, pair):
        """Returns the answer of a pair with start and end token, integers (length,)."""
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
    """Context manager that tokenizes pairs into a temporary file, so that they may be larger than memory.

    Args:
        tokenizer: The `Tokenizer` of the questions.
        max_length: Maximum number of tokens in a question or an answer, start and end included; longer pairs are left
            out. None for no limit.
        target_tokenizer: The `Tokenizer` of the answers; None to use that of the questions.
        turns: Maximum number of conversation turns in a question; see `question_ids`.
    """

    def __init__(self, tokenizer, max_length=None, target_tokenizer=None, turns=1):
        self.tokenizer, self.target = tokenizer, target_tokenizer or tokenizer
        self.max_length, self.turns = max_length, turns
        self._dtype = np.min_scalar_type(max(self.tokenizer.vocab_size, self.target.vocab_size))
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it has no name and is always removed)
        self._lengths, self._characters = array.array("i"), 0
        self._long, self._named = 0, []  # Number of too long pairs, and the first few of their questions.

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):  # On a full disk, it tries to write the rest once more.
            self._file.close()

    def add(self, pairs):
        """Tokenizes a DataFrame with the columns "question" and "answer".

        Raises:
            DiskFull: If the temporary folder is full.
        """
        with temporary_space(_("the corpus as token ids")):
            self._add(pairs)
            self._file.flush()

    def _add(self, pairs):
        texts = list(pairs["question"]), list(pairs["answer"])
        ids = token_ids(*texts, self.tokenizer, self.target, self.max_length, self.turns)
        for question, answer, (source, target) in zip(*texts, ids):
            if self.max_length is not None and max(len(source), len(target)) > self.max_length:
                self._long += 1
                self._named += [repr(question[:40])] if len(self._named) < MOST_NAMED else []
                continue
            self._file.write(np.array(source + target, self._dtype))
            self._lengths.extend((len(source), len(target)))
            self._characters += len(normalize(answer))

    def finish(self):
        """Returns the `EncodedPairs` of all added pairs, with a `CorpusWarning` about the pairs left out.

        Raises:
            InputError: If no pair is left.
        """
        if self._long:
            self._warn_of_long_pairs()
        if not self._lengths:
            raise InputError(
                _("no pair of at most {max_length} tokens in the corpus; raise max_length", max_length=self.max_length)
            )
        starts = np.zeros(len(self._lengths) + 1, "int64")
        np.cumsum(self._lengths, out=starts[1:])
        return EncodedPairs(np.memmap(self._file, self._dtype, "r"), starts, self._characters)

    def _warn_of_long_pairs(self):
        """Warns with the number of too long pairs and the first few of them."""
        named = "; ".join(self._named) + ("; …" if self._long > len(self._named) else "")
        total = self._long + len(self._lengths) // 2
        warnings.warn(
            _(
                "{left_out} of {pairs} pairs are longer than {max_length} tokens and left out: {named}",
                left_out=self._long,
                pairs=total,
                max_length=self.max_length,
                named=named,
            ),
            CorpusWarning,
            stacklevel=4,
        )


def token_ids(questions, answers, tokenizer, target_tokenizer, max_length=None, turns=1):
    """Returns the token ids of each question and answer, with start and end tokens and without truncation."""
    start, end = target_tokenizer.start_id, target_tokenizer.end_id
    sources = question_ids(tokenizer, questions, turns, max_length)
    return list(zip(sources, ([start, *ids, end] for ids in target_tokenizer.encode(answers))))


def encode_pairs(pairs, tokenizer, max_length=None, target_tokenizer=None, turns=1):
    """Returns the `EncodedPairs` of a DataFrame; arguments and errors are those of `PairEncoder`."""
    with PairEncoder(tokenizer, max_length, target_tokenizer, turns) as encoder:
        encoder.add(pairs)
        return encoder.finish()
