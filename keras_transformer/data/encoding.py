"""Pairs of text as token ids."""

import dataclasses
import itertools
import warnings

import numpy as np
import pandas as pd

from keras_transformer.data.corpus import CorpusWarning
from keras_transformer.errors import InputError


@dataclasses.dataclass(frozen=True)
class EncodedPairs:
    """A corpus as token ids.

    Attributes:
        pairs: DataFrame of the pairs that are not too long.
        questions: Their questions, each an int32 array from start to end token.
        answers: Their answers, likewise.
    """

    pairs: pd.DataFrame
    questions: list
    answers: list

    def __len__(self):
        return len(self.questions)

    @property
    def tokens(self):
        """Number of answer tokens to predict, end tokens included."""
        return sum(map(len, self.answers)) - len(self.answers)

    @property
    def lengths(self):
        """Token counts (pairs, 2): of each question, and of each answer as the decoder reads it."""
        return np.array([list(map(len, self.questions)), [len(answer) - 1 for answer in self.answers]]).T


def encode_pairs(pairs, tokenizer, max_length=None):
    """Encodes every pair, less those that are too long.

    Args:
        pairs: DataFrame with the columns "question" and "answer".
        tokenizer: A `Tokenizer`.
        max_length: Tokens a question or an answer may have, start and end included; longer pairs are left out with a
            `CorpusWarning`. None for no limit.

    Returns:
        The `EncodedPairs`.

    Raises:
        InputError: If no pair is left.
    """
    start, end = [tokenizer.start_id], [tokenizer.end_id]
    questions = [np.array(start + ids + end, "int32") for ids in tokenizer.encode(list(pairs["question"]))]
    answers = [np.array(start + ids + end, "int32") for ids in tokenizer.encode(list(pairs["answer"]))]
    fits = [max_length is None or max(map(len, pair)) <= max_length for pair in zip(questions, answers)]
    if not all(fits):
        warn_of_long_pairs(pairs, fits, max_length)
    if not any(fits):
        raise InputError(f"no pair of at most {max_length} tokens: nothing to make batches of")
    return EncodedPairs(pairs[fits], list(itertools.compress(questions, fits)), list(itertools.compress(answers, fits)))


def warn_of_long_pairs(pairs, fits, max_length):
    """Counts and names the pairs that are left out."""
    long = [question for question, fit in zip(pairs["question"], fits) if not fit]
    named = "; ".join(repr(question[:40]) for question in long[:3]) + ("; …" if len(long) > 3 else "")
    warnings.warn(
        f"{len(long)} of {len(pairs)} pairs are longer than {max_length} tokens and left out: {named}",
        CorpusWarning,
        stacklevel=4,
    )
