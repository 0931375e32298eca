"""The tokenizer as tensorflow-text operations, for data pipelines and exported graphs."""

import re

import tensorflow as tf

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.text.normalize import SPACES
from keras_transformer.text.sentence_pieces import SentencePieces


class InGraphTokenizer(tf.Module):
    """A `Tokenizer` whose `encode` and `decode` run inside a TensorFlow graph.

    Args:
        tokenizer: The `Tokenizer` to reproduce.

    Raises:
        InputError: If tensorflow-text is not installed, or the tokenizer is a `.subwords` vocabulary.
    """

    def __init__(self, tokenizer):
        super().__init__()
        if tokenizer.ending != SentencePieces.ending:
            raise InputError(
                _("a .subwords vocabulary has no operation in tensorflow-text: use the core operations of TensorFlow")
            )
        try:
            import tensorflow_text
        except ImportError as error:
            raise InputError(
                _("tokenizing inside a graph needs tensorflow-text (for Linux and macOS): pip install tensorflow-text")
            ) from error
        self._compose = tensorflow_text.normalize_utf8
        self._pieces = tensorflow_text.SentencepieceTokenizer(model=tokenizer.model, out_type=tf.int32)

    def normalize(self, texts):
        """Normalizes strings (batch,) as `text.normalize` does."""
        return tf.strings.strip(tf.strings.regex_replace(self._compose(texts, "NFC"), re2(SPACES), " "))

    def encode(self, texts):
        """Tokenizes strings (batch,) into an int32 RaggedTensor (batch, None), without start and end."""
        return self._pieces.tokenize(self.normalize(texts))

    def decode(self, ids):
        """Decodes int32 token ids, ragged or padded (batch, length), into strings (batch,)."""
        return self._pieces.detokenize(ids)


def re2(pattern):
    r"""Converts the character escapes of a Python pattern to those of RE2: \u3000 -> \x{3000}."""
    return re.sub(r"\\[ux]([0-9a-f]{2,4})", r"\\x{\1}", pattern)
