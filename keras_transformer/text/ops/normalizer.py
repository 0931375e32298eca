"""Text normalization of a SentencePiece model, before segmentation or after detokenization."""

import tensorflow as tf

from keras_transformer.text.ops.rules import Rules, read_rules
from keras_transformer.text.sentence_pieces import SPACE


class Normalizer(tf.Module):
    """Applies the replacement rules and the white space handling of a model.

    Args:
        spec: The `NormalizerSpec` of the model.
    """

    def __init__(self, spec):
        super().__init__()
        rules = read_rules(spec.precompiled_charsmap)
        self._replace = Rules(rules) if rules else tf.identity
        self._trims, self._prefixes = spec.remove_extra_whitespaces, spec.add_dummy_prefix
        self._space = SPACE if spec.escape_whitespaces else " "

    def __call__(self, texts):
        """Normalizes strings (batch,) of valid UTF-8."""
        empty, texts = texts == "", self._replace(texts)
        if self._trims:
            texts = tf.strings.regex_replace(tf.strings.regex_replace(texts, " +", " "), "^ ", "")
        texts = tf.strings.regex_replace(texts, " ", self._space)
        if self._prefixes:
            texts = tf.where(empty, "", tf.strings.join([self._space, texts]))
        if self._trims:
            # This also removes literal space signs of the input, but only at the end.
            texts = tf.strings.regex_replace(texts, f"{self._space}+$", "")
        return texts
