"""Likelihood of the reference answers under teacher forcing: loss, perplexity and bits per character.

All are computed over the tokens of the answers, including end tokens but not padding, as in validation during training.
Bits per character do not depend on the tokenizer, so that they are comparable between runs and programs.
"""

import dataclasses
import math
import warnings

import keras
import numpy as np
from keras import ops

from keras_transformer.data.loading import CorpusWarning
from keras_transformer.data.tokenized import token_ids
from keras_transformer.decoding.generate import bucket_length
from keras_transformer.errors import InputError
from keras_transformer.evaluation.text_metrics import Score, ratio
from keras_transformer.language import translate as _
from keras_transformer.padding import PAD_ID, pad
from keras_transformer.text.normalize import normalize

TOKENS = 2048  # Answer tokens per batch. This limits memory, because each token has vocab_size logits.


@dataclasses.dataclass(frozen=True)
class Likelihood:
    """The sums over the answers to each question.

    Attributes:
        nats: Cross-entropy in nats, float64 (questions,).
        tokens: Number of predicted tokens, float64 (questions,).
        characters: Number of characters, float64 (questions,).
    """

    nats: np.ndarray
    tokens: np.ndarray
    characters: np.ndarray

    def scores(self):
        """Returns a dictionary of the `Score`s."""
        per_token = np.stack([self.nats, self.tokens], axis=1)
        per_character = np.stack([self.nats / math.log(2), self.characters], axis=1)
        return {
            "loss": Score(per_token, ratio),
            "perplexity": Score(per_token, lambda total: np.exp(ratio(total))),
            "bits_per_char": Score(per_character, ratio),
        }


def likelihood(bot, references):
    """Computes the `Likelihood` of reference answers.

    Pairs that exceed the model's maximum length are excluded with a `CorpusWarning`, as in training.

    Args:
        bot: The `Chatbot`.
        references: Dictionary from questions to lists of their answers.

    Returns:
        The `Likelihood`.

    Raises:
        InputError: If no pair is left.
    """
    pairs = [(row, question, answer) for row, question in enumerate(references) for answer in references[question]]
    rows, questions, answers = map(list, zip(*pairs))
    ids = token_ids(questions, answers, bot.tokenizer, bot.target_tokenizer, bot.max_length, bot.turns)
    short = [pair for pair, both in enumerate(ids) if max(map(len, both)) <= bot.max_length]
    if not short:
        raise InputError(
            _(
                "no pair of at most {max_length} tokens: there is nothing to compute a loss on",
                max_length=bot.max_length,
            )
        )
    if left_out := len(pairs) - len(short):
        message = _(
            "{left_out} of {pairs} pairs are longer than {max_length} tokens and left out of the loss",
            left_out=left_out,
            pairs=len(pairs),
            max_length=bot.max_length,
        )
        warnings.warn(message, CorpusWarning, stacklevel=2)
    rows, ids = [rows[pair] for pair in short], [ids[pair] for pair in short]
    characters = [len(normalize(answers[pair])) for pair in short]
    tokens = [len(answer) - 1 for _, answer in ids]
    sums = (np.bincount(rows, values, len(references)) for values in (losses(bot.model, ids), tokens, characters))
    return Likelihood(*sums)


def losses(model, ids):
    """Returns the cross-entropy of each answer in nats, summed over its tokens: float64 (answers,).

    Args:
        model: A `transformer()`.
        ids: A list of pairs: the token ids of a question, and those of its answer.
    """
    order = sorted(range(len(ids)), key=lambda pair: tuple(map(len, reversed(ids[pair]))))
    sums = np.zeros(len(ids))
    while order:
        size = max(1, TOKENS // len(ids[order[-1]][1]))
        order, batch = order[:-size], order[-size:]
        questions, answers = (pad_to_bucket(side) for side in zip(*(ids[pair] for pair in batch)))
        read, targets = answers[:, :-1], answers[:, 1:]
        logits = ops.cast(model({"inputs": questions, "dec_inputs": read}, training=False), "float32")
        nats = keras.losses.sparse_categorical_crossentropy(targets, logits, from_logits=True)
        sums[batch] = ops.convert_to_numpy(ops.sum(ops.where(targets != PAD_ID, nats, 0.0), axis=-1))
    return sums


def pad_to_bucket(rows):
    """Pads rows of ids to the bucketed length of the longest one."""
    return pad(rows, bucket_length(max(map(len, rows))))
