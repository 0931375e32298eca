"""Pairs of text to a dataset for `model.fit`."""

from keras_transformer.data.batching import Buckets
from keras_transformer.data.loading import check_pairs
from keras_transformer.data.packing import PackedRows
from keras_transformer.data.tokenized import encode_pairs


def make_dataset(
    pairs, tokenizer, batch_size=64, max_length=None, shuffle=True, seed=0, packed=False, target_tokenizer=None,
    turns=1,
):  # fmt: skip
    """A dataset for `model.fit`, tokenized once, with almost no padding.

    By default a row holds one pair, and a batch pairs of similar lengths. Packed, a row holds several pairs and all
    batches have one shape, which trains fastest; the model to fit is then `packed(model)`.

    Args:
        pairs: DataFrame with the columns "question" and "answer", as `load_pairs` returns it.
        tokenizer: The `Tokenizer` of the questions.
        batch_size: Pairs in a batch; if packed, on average.
        max_length: Tokens a question or an answer may have, start and end included; longer pairs are left out with a
            `CorpusWarning`. None for no limit.
        shuffle: Whether every epoch has its own order.
        seed: Seed of that order.
        packed: Whether rows hold several pairs.
        target_tokenizer: The `Tokenizer` of the answers; None for the same.
        turns: Turns of a conversation that a question may have, its lines; several need a tokenizer with a separator.

    Returns:
        A finite `tf.data.Dataset` of ({"inputs", "dec_inputs"}, targets), int32 of shapes (batch, question length),
        (batch, answer length) and (batch, answer length); if packed, with "segments" and "dec_segments" beside them,
        which number the pairs of a row from 1.

    Raises:
        InputError: If the columns are not there or hold no text, or no pair is left.
    """
    encoded = encode_pairs(check_pairs(pairs), tokenizer, max_length, target_tokenizer, turns)
    batches = PackedRows if packed else Buckets
    return batches(encoded, batch_size, shuffle=shuffle, seed=seed).epochs()
