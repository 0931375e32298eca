"""How likely a chatbot thinks the reference answers: loss, perplexity and bits per character, by teacher forcing.

All are sums over the tokens of the answers, end tokens included and padding not counted, as a training's validation
has them; bits per character do not depend on the tokenizer, so that runs and programs compare.
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
from keras_transformer.text.normalize import normalize

TOKENS = 2048  # Of answers that are read side by side: there are as many logits for each as the vocabulary has tokens.


@dataclasses.dataclass(frozen=True)
class Likelihood:
    """What the answers of each question add, arrays (questions,): nats, tokens to predict, characters."""

    nats: np.ndarray
    tokens: np.ndarray
    characters: np.ndarray

    def scores(self):
        """The `Score`s by their names."""
        a_token = np.stack([self.nats, self.tokens], axis=1)
        a_character = np.stack([self.nats / math.log(2), self.characters], axis=1)
        return {
            "loss": Score(a_token, ratio),
            "perplexity": Score(a_token, lambda total: np.exp(ratio(total))),
            "bits_per_char": Score(a_character, ratio),
        }


def likelihood(bot, asked):
    """The `Likelihood` of answers.

    Pairs that are longer than the model reads are left out, as training leaves them out, with a `CorpusWarning`.

    Args:
        bot: The `Chatbot`.
        asked: Dictionary from questions to lists of their answers.

    Raises:
        InputError: If no pair is left.
    """
    pairs = [(row, question, answer) for row, question in enumerate(asked) for answer in asked[question]]
    rows, questions, answers = map(list, zip(*pairs))
    ids = token_ids(questions, answers, bot.tokenizer, bot.target_tokenizer, bot.max_length, bot.turns)
    short = [pair for pair, both in enumerate(ids) if max(map(len, both)) <= bot.max_length]
    if not short:
        raise InputError(f"no pair of at most {bot.max_length} tokens: nothing to compute a loss of")
    if left_out := len(pairs) - len(short):
        what = f"{left_out} of {len(pairs)} pairs are longer than {bot.max_length} tokens and left out of the loss"
        warnings.warn(what, CorpusWarning, stacklevel=2)
    rows, ids = [rows[pair] for pair in short], [ids[pair] for pair in short]
    characters = [len(normalize(answers[pair])) for pair in short]
    tokens = [len(answer) - 1 for _, answer in ids]
    sums = (np.bincount(rows, values, len(asked)) for values in (losses(bot.model, ids), tokens, characters))
    return Likelihood(*sums)


def losses(model, ids):
    """The cross-entropy of each answer in nats, summed over its tokens: a vector.

    Args:
        model: A `transformer()`.
        ids: Pairs of a question's token ids and an answer's.
    """
    order = sorted(range(len(ids)), key=lambda pair: tuple(map(len, reversed(ids[pair]))))
    found = np.zeros(len(ids))
    while order:
        size = max(1, TOKENS // len(ids[order[-1]][1]))
        order, batch = order[:-size], order[-size:]
        questions, answers = (padded(side) for side in zip(*(ids[pair] for pair in batch)))
        read, targets = answers[:, :-1], answers[:, 1:]
        logits = ops.cast(model({"inputs": questions, "dec_inputs": read}, training=False), "float32")
        nats = keras.losses.sparse_categorical_crossentropy(targets, logits, from_logits=True)
        found[batch] = ops.convert_to_numpy(ops.sum(ops.where(targets != 0, nats, 0.0), axis=-1))
    return found


def padded(rows):
    """Rows of ids filled up with 0, to one of few widths."""
    width = bucket_length(max(map(len, rows)))
    return np.array([row + [0] * (width - len(row)) for row in rows], "int32")
