"""The similarity of questions by the encoder output (the memory) of a trained model."""

import keras
import numpy as np

from keras_transformer.evaluation.perplexity import pad_to_bucket
from keras_transformer.text.turns import question_ids

BATCH = 256


def cosines(bot, questions, known):
    """Returns the cosines between the mean encoder outputs of questions and of training questions.

    Args:
        bot: The `Chatbot` whose encoder is used.
        questions: The questions, a list of texts.
        known: The training questions, a list of texts.

    Returns:
        A float array (questions, known).
    """
    return mean_memories(bot, questions) @ mean_memories(bot, known).T


def mean_memories(bot, questions):
    """Returns the encoder outputs of questions, averaged over tokens, at unit length: float32 (questions, d_model)."""
    encoder = keras.Model(bot.model.get_layer("inputs").output, bot.model.get_layer("encoder").output)
    rows = question_ids(bot.tokenizer, questions, bot.turns)
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    found = np.zeros((len(rows), encoder.output.shape[-1]), "float32")
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        inputs = pad_to_bucket([rows[row] for row in batch])
        memory = keras.ops.convert_to_numpy(keras.ops.cast(encoder(inputs, training=False), "float32"))
        found[batch] = (memory * (inputs != 0)[..., np.newaxis]).sum(axis=1)
    return found / np.linalg.norm(found, axis=1, keepdims=True)
