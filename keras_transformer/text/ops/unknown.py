"""Ids of unknown characters and words, which `segmentation` returns as ids above the vocabulary.

Both classes map ids to ids, int32 RaggedTensors (batch, None).
"""

import tensorflow as tf

from keras_transformer.text.sentence_pieces import UNK_ID


class UnknownAsOne(tf.Module):
    """Replaces each run of unknowns with a single unknown id.

    Args:
        size: Size of the vocabulary.
    """

    def __init__(self, size):
        super().__init__()
        self._size = size

    def __call__(self, ids):
        rows, unknown = ids.value_rowids(), ids.values >= self._size
        repeated = unknown[1:] & unknown[:-1] & (rows[1:] == rows[:-1])
        kept = tf.concat([tf.ones_like(unknown[:1]), ~repeated], axis=0)
        ids = ids.with_values(tf.where(unknown, UNK_ID, ids.values))
        return tf.ragged.boolean_mask(ids, ids.with_values(kept))


class UnknownAsBytes(tf.Module):
    """Replaces each unknown character with the ids of its UTF-8 bytes (byte fallback).

    Args:
        size: Size of the vocabulary.
        byte_ids: List of the ids of the bytes 0 to 255.
    """

    def __init__(self, size, byte_ids):
        super().__init__()
        self._size, self._byte_ids = size, tf.constant(byte_ids, tf.int32)

    def __call__(self, ids):
        unknown = ids.values >= self._size
        characters = tf.strings.unicode_encode(tf.where(unknown, ids.values - self._size, 0)[:, None], "UTF-8")
        bytes_ = tf.cast(tf.io.decode_raw(characters, tf.uint8, fixed_length=4), tf.int32)
        spelled = tf.where(unknown[:, None], tf.gather(self._byte_ids, bytes_), ids.values[:, None])
        # Known ids are represented by the zero character here, which is one byte long as well.
        spelled = tf.RaggedTensor.from_tensor(spelled, tf.strings.length(characters), row_splits_dtype=tf.int32)
        return ids.with_values(spelled).merge_dims(1, 2)
