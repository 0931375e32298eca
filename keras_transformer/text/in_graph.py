"""The same tokenizer as TensorFlow operations, for data pipelines and exported graphs (needs tensorflow-text)."""

import re

import tensorflow as tf

from keras_transformer.errors import InputError
from keras_transformer.text.normalize import SPACES
from keras_transformer.text.sentence_pieces import SentencePieces


class InGraphTokenizer(tf.Module):
    """A `Tokenizer` whose `encode` and `decode` run inside a TensorFlow graph.

    Args:
        tokenizer: The `Tokenizer` to equal.

    Raises:
        InputError: If tensorflow-text is not installed, or the tokenizer is a `.subwords` vocabulary.
    """

    def __init__(self, tokenizer):
        super().__init__()
        if tokenizer.ending != SentencePieces.ending:
            raise InputError("a .subwords vocabulary has no operation in TensorFlow: encode its text outside the graph")
        try:
            import tensorflow_text
        except ImportError as error:
            raise InputError(
                "text inside a graph needs tensorflow-text (for Linux and macOS): pip install tensorflow-text"
            ) from error
        self._compose = tensorflow_text.normalize_utf8
        self._pieces = tensorflow_text.SentencepieceTokenizer(model=tokenizer.model, out_type=tf.int32)

    def normalize(self, texts):
        """Strings (batch,) in the normal form of `text.normalize`."""
        return tf.strings.strip(tf.strings.regex_replace(self._compose(texts, "NFC"), re2(SPACES), " "))

    def encode(self, texts):
        """Token ids of strings (batch,), without start and end: int32 RaggedTensor (batch, None)."""
        return self._pieces.tokenize(self.normalize(texts))

    def decode(self, ids):
        """Strings (batch,) of int32 token ids, ragged or padded (batch, length)."""
        return self._pieces.detokenize(ids)


def re2(pattern):
    r"""A Python pattern in RE2's spelling of characters: \u3000 -> \x{3000}."""
    return re.sub(r"\\[ux]([0-9a-f]{2,4})", r"\\x{\1}", pattern)
