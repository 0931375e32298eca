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
        self._trims, self._prefixes = spec.remove_extra_whitespaces, spec.add_dummy_prefix
        self._space = SPACE if spec.escape_whitespaces else " "

    def __call__(self, texts):
        """Strings (batch,) as the model has them, of valid UTF-8."""
        empty, texts = texts == "", self._replace(texts)
        if self._trims:
            texts = tf.strings.regex_replace(tf.strings.regex_replace(texts, " +", " "), "^ ", "")
        texts = tf.strings.regex_replace(texts, " ", self._space)
        if self._prefixes:
            texts = tf.where(empty, "", tf.strings.join([self._space, texts]))
        if self._trims:
            # The user's own signs for spaces go too, at the end alone.
            texts = tf.strings.regex_replace(texts, f"{self._space}+$", "")
        return texts
