"""Datasets for `model.fit` from pairs of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keras_transformer.data.batching import Buckets
from keras_transformer.data.loading import check_pairs
from keras_transformer.data.packing import PackedRows
from keras_transformer.data.tokenized import encode_pairs

if TYPE_CHECKING:
    import pandas
    import tensorflow as tf

    from keras_transformer.text.tokenizer import Tokenizer


def make_dataset(
    pairs: pandas.DataFrame, tokenizer: Tokenizer, batch_size: int = 64, max_length: int | None = None,
    shuffle: bool = True, seed: int = 0, packed: bool = False, target_tokenizer: Tokenizer | None = None,
    turns: int = 1,
) -> tf.data.Dataset:  # fmt: skip
    """Creates a dataset for `model.fit`, tokenized once and with very little padding.

    By default a row contains one pair, and a batch contains pairs of similar lengths. With `packed=True`, a row
    contains several pairs and all batches have the same shape, which trains fastest; fit `packed(model)` on it.

    Args:
        pairs: DataFrame with the columns "question" and "answer", as from `load_pairs`.
        tokenizer: The `Tokenizer` of the questions.
        batch_size: Number of pairs in a batch; an average if packed.
        max_length: Maximum number of tokens in a question or an answer, start and end included; longer pairs are left
            out with a `CorpusWarning`. None for no limit.
        shuffle: Whether to shuffle the pairs in each epoch.
        seed: Seed of the shuffling.
        packed: Whether to pack several pairs into a row.
        target_tokenizer: The `Tokenizer` of the answers; None to use that of the questions.
        turns: Maximum number of conversation turns in a question, one per line. More than 1 requires a tokenizer with a
            separator.

    Returns:
        A finite `tf.data.Dataset` of ({"inputs", "dec_inputs"}, targets), int32 of shapes (batch, question length),
        (batch, answer length) and (batch, answer length). If packed, the inputs include "segments" and "dec_segments",
        which number the pairs of a row from 1.

    Raises:
        InputError: If a column is missing or contains empty text, or no pair is left.
    """
    encoded = encode_pairs(check_pairs(pairs), tokenizer, max_length, target_tokenizer, turns)
    batches = PackedRows if packed else Buckets
    return batches(encoded, batch_size, shuffle=shuffle, seed=seed).epochs()
