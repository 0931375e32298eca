"""What a SentencePiece model does to a text before it looks for pieces, or after it has joined them."""

import tensorflow as tf

from keras_transformer.text.ops.rules import Rules, read_rules
from keras_transformer.text.sentence_pieces import SPACE


class Normalizer(tf.Module):
    """The rules of a model, and how it writes spaces.

    Args:
        spec: Its `NormalizerSpec`.
    """

    def __init__(self, spec):
        super().__init__()
        rules = read_rules(spec.precompiled_charsmap)
        self._replace = Rules(rules) if rules else tf.identity
        self._trims, self._begins = spec.remove_extra_whitespaces, spec.add_dummy_prefix
        self._space = SPACE if spec.escape_whitespaces else " "

    def __call__(self, texts):
        """Strings (batch,), valid UTF-8, as the pieces spell them."""
        texts = self._replace(texts)
        if self._trims:
            texts = tf.strings.regex_replace(tf.strings.regex_replace(texts, " +", " "), "^ ", "")
        texts = tf.strings.regex_replace(texts, " ", self._space)
        if self._begins:
            texts = tf.where(texts == "", texts, tf.strings.join([self._space, texts]))
        return tf.strings.regex_replace(texts, f"{self._space}+$", "") if self._trims else texts
