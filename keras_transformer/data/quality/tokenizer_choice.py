"""Chooses the vocabulary size for a corpus."""

import itertools

import numpy as np
import sentencepiece

from keras_transformer.text.sentence_pieces import BYTE_PIECES, END_ID, SPACE
from keras_transformer.text.tokenizer import Tokenizer

SIZES = tuple(500 * 2**k for k in range(7))
OFTEN = 10  # Minimum number of occurrences in training to learn a piece.
OFTEN_MEMORIZED = 5  # The same for answers to memorize: longer pieces mean fewer tokens to memorize.
RAREST = 0.05  # Share of the pieces that may be rarer.


def choose_tokenizer(texts, characters, share=1, often=OFTEN):
    """Trains tokenizers and returns the one with the largest suitable vocabulary.

    This is the largest of `SIZES` for which 95 % of the multi-character pieces occur at least `often` times. Single
    characters do not count, because every vocabulary contains them. The vocabulary is at least large enough for all
    characters.

    On the Korean chatbot corpus the result is 2,000. The preset `small` reaches 2.454 validation bits per character
    with 2,000, 2.478 with 4,000, and 2.510 with 8,192 (one run each).

    Args:
        texts: Sample of strings to train tokenizers on.
        characters: Number of distinct characters that the vocabulary must contain.
        share: Share of the sample in all training texts.
        often: Minimum number of occurrences of a piece.

    Returns:
        A `Tokenizer`, its size among `SIZES`, and the number of times that 95 % of its pieces occur in training at
        least.
    """
    least = END_ID + 1 + BYTE_PIECES + characters
    sizes = [size for size in SIZES if size >= least] or [500 * -(-least // 500)]
    chosen = None
    for size in sizes:
        tokenizer = Tokenizer.train(texts, size)
        count = round(rarest_count(tokenizer, texts) / share)
        if chosen and count < often:
            break
        chosen = tokenizer, size, count
        if tokenizer.vocab_size < size:  # The texts do not yield more pieces.
            break
    return chosen


def rarest_count(tokenizer, texts):
    """Returns the count of the rarest multi-character piece in texts, ignoring the share `RAREST` of rarer ones."""
    counts = np.bincount(
        np.fromiter(itertools.chain.from_iterable(tokenizer.encode(texts)), int), minlength=tokenizer.vocab_size
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    pieces = map(model.id_to_piece, range(END_ID + 1, model.get_piece_size()))
    several = [i for i, piece in enumerate(pieces, END_ID + 1) if len(piece.lstrip(SPACE)) > 1 and not model.is_byte(i)]
    return int(np.sort(counts[several])[int(RAREST * len(several))]) if several else 0
