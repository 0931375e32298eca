"""The ids of characters and words that no piece covers, which `segmentation` leaves above those of the vocabulary.

Both classes take and give ids as an int32 RaggedTensor (batch, None).
"""

import tensorflow as tf

from keras_transformer.text.sentence_pieces import UNK_ID


class UnknownAsOne(tf.Module):
    """The unknown id, once for all that is unknown side by side.

    Args:
        size: Ids of the vocabulary.
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
    """A character as the ids of its bytes in UTF-8.

    Args:
        size: Ids of the vocabulary.
        byte_ids: The ids of the bytes, a list in their order.
    """

    def __init__(self, size, byte_ids):
        super().__init__()
        self._size, self._byte_ids = size, tf.constant(byte_ids, tf.int32)

    def __call__(self, ids):
        unknown = ids.values >= self._size
        characters = tf.strings.unicode_encode(tf.where(unknown, ids.values - self._size, 0)[:, None], "UTF-8")
        bytes_ = tf.cast(tf.io.decode_raw(characters, tf.uint8, fixed_length=4), tf.int32)
        spelled = tf.where(unknown[:, None], tf.gather(self._byte_ids, bytes_), ids.values[:, None])
        # A known id has the character zero here, whose length is one byte too.
        spelled = tf.RaggedTensor.from_tensor(spelled, tf.strings.length(characters), row_splits_dtype=tf.int32)
        return ids.with_values(spelled).merge_dims(1, 2)
