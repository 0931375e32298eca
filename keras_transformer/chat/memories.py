"""What the encoder makes of whole questions."""

import functools

import keras
import numpy as np
from keras import ops

from keras_transformer.decoding.compiled import compiled
from keras_transformer.decoding.generate import width_class

BATCH = 256


class QuestionEncoder:
    """Maps questions to their mean memories.

    Args:
        model: A `transformer()`.
        ids_of: A function from questions to lists of token ids, empty for a blank one.

    Attributes:
        encoder: The Keras model from ids (batch, length) to memories (batch, length, d_model).
    """

    def __init__(self, model, ids_of):
        self._model, self._ids_of = model, ids_of

    @functools.cached_property
    def encoder(self):
        return keras.Model(self._model.get_layer("inputs").output, self._model.get_layer("encoder").output)

    @functools.cached_property
    def _encode(self):
        return compiled(functools.partial(self.encoder, training=False), self.encoder.variables)

    def __call__(self, questions):
        """The mean of the encoder's output over the tokens of each question, at length 1: floats (questions, d_model).

        Those of blank questions are zeros.
        """
        return self.means(self._ids_of(questions))

    def means(self, rows):
        """The same for lists of token ids."""
        order = sorted((row for row in range(len(rows)) if rows[row]), key=lambda row: len(rows[row]))
        means = np.zeros((len(rows), self.encoder.output.shape[-1]), "float32")
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            # Few shapes, as each is compiled once.
            inputs = np.zeros((1 << (len(batch) - 1).bit_length(), width_class(len(rows[batch[-1]]))), "int32")
            for place, row in enumerate(batch):
                inputs[place, : len(rows[row])] = rows[row]
            memory = ops.convert_to_numpy(self._encode(ops.convert_to_tensor(inputs)))[: len(batch)].astype("float32")
            means[batch] = (memory * (inputs[: len(batch)] != 0)[..., np.newaxis]).sum(axis=1)
        return means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
