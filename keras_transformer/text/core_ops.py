"""The tokenizer as core TensorFlow operations, for exported graphs that only depend on TensorFlow."""

import tensorflow as tf
from sentencepiece import sentencepiece_model_pb2

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.text.in_graph import re2
from keras_transformer.text.normalize import SPACES
from keras_transformer.text.ops.composition import Composition
from keras_transformer.text.ops.detokenizer import Detokenizer
from keras_transformer.text.ops.normalizer import Normalizer
from keras_transformer.text.ops.segmentation import BytePairs, Characters, Unigram, Words
from keras_transformer.text.ops.subwords import SubwordDetokenizer, SubwordSegmentation
from keras_transformer.text.ops.unknown import UnknownAsBytes, UnknownAsOne
from keras_transformer.text.subwords import Subwords

CPU = "CPU:0"  # String operations run on the CPU anyway. This avoids transfers to another device and back.


class CoreTokenizer(tf.Module):
    """A `Tokenizer` whose `encode` and `decode` run inside a TensorFlow graph and only need TensorFlow.

    A module saved as a SavedModel must hold it as an attribute, so that its lookup tables are saved. Invalid UTF-8
    bytes are treated as U+FFFD.

    Args:
        tokenizer: The `Tokenizer` to reproduce, of a SentencePiece model.

    Raises:
        InputError: If the SentencePiece model has features that `Tokenizer.train` does not use.
    """

    def __init__(self, tokenizer):
        super().__init__()
        model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
        check(model)
        with tf.device(CPU):
            self.normalize = Normalization()
            self._normalize = Normalizer(model.normalizer_spec)
            self._segment = segmentation(model)
            self._spell = spelling(model)
            self._join = Detokenizer(model)

    def encode(self, texts):
        """Tokenizes strings (batch,) into an int32 RaggedTensor (batch, None), without start and end."""
        with tf.device(CPU):
            ids = self._segment(self._normalize(self.normalize(texts)))
            return self._spell(ids).with_row_splits_dtype(tf.int64)

    def decode(self, ids):
        """Decodes int32 token ids, ragged or padded (batch, length), into strings (batch,)."""
        with tf.device(CPU):
            ids = ids if isinstance(ids, tf.RaggedTensor) else tf.RaggedTensor.from_tensor(ids)
            return self._join(ids.with_row_splits_dtype(tf.int32))


class CoreSubwords(tf.Module):
    """The same for a `.subwords` vocabulary.

    Args:
        tokenizer: The `Tokenizer` to reproduce, of such a vocabulary.

    Raises:
        InputError: If the vocabulary has pieces of letters and other characters, which tensorflow-datasets finds
            before it splits a text into words. None that it made from texts has.
    """

    def __init__(self, tokenizer):
        super().__init__()
        vocabulary = tokenizer.vocabulary
        if vocabulary.has_mixed_pieces:
            raise InputError(
                _("this .subwords vocabulary has pieces of letters and punctuation: encode its text outside the graph")
            )
        with tf.device(CPU):
            self.normalize = Normalization()
            self._preprocess = vocabulary.preprocessing
            self._segment = SubwordSegmentation(vocabulary.subwords)
            self._join = SubwordDetokenizer(vocabulary.subwords, specials=2)

    def encode(self, texts):
        """Tokenizes strings (batch,) into an int32 RaggedTensor (batch, None), without start and end."""
        with tf.device(CPU):
            texts = preprocessed(texts, self._preprocess) if self._preprocess else texts
            return self._segment(texts).with_row_splits_dtype(tf.int64)

    def decode(self, ids):
        """Decodes int32 token ids, ragged or padded (batch, length), into strings (batch,)."""
        with tf.device(CPU):
            ids = ids if isinstance(ids, tf.RaggedTensor) else tf.RaggedTensor.from_tensor(ids)
            return self._join(ids.with_row_splits_dtype(tf.int32))


class Normalization(tf.Module):
    """Normalizes strings (batch,) as `text.normalize` does."""

    def __init__(self):
        super().__init__()
        self._compose = Composition()

    def __call__(self, texts):
        with tf.device(CPU):
            return tf.strings.strip(tf.strings.regex_replace(self._compose(texts), re2(SPACES), " "))


def core_tokenizer(tokenizer):
    """Returns the `CoreTokenizer` or `CoreSubwords` of a `Tokenizer`."""
    return (CoreSubwords if tokenizer.ending == Subwords.ending else CoreTokenizer)(tokenizer)


def preprocessed(texts, preprocessing):
    """Applies a `Preprocessing` to strings (batch,)."""
    if preprocessing.lower:
        # TensorFlow's lower-casing ends a text at a zero character; another one that is no letter goes the same way.
        texts = tf.strings.lower(tf.strings.regex_replace(texts, r"\x00", "\x01"), "utf-8")
    for pattern, replacement in preprocessing.replacements:
        texts = tf.strings.regex_replace(texts, pattern, replacement)
    return tf.strings.regex_replace(texts, f"^{re2(SPACES)}|{re2(SPACES)}$", "")


def check(model):
    """Raises `InputError` if a `ModelProto` has features that the operations do not support."""
    types = model.SentencePiece
    supported = {types.NORMAL, types.UNKNOWN, types.CONTROL, types.BYTE}
    if model.trainer_spec.treat_whitespace_as_suffix or any(piece.type not in supported for piece in model.pieces):
        raise InputError(
            _(
                "this SentencePiece model has user-defined or unused pieces, or spaces at the ends of its pieces, "
                "which the core TensorFlow operations do not support: use another tokenizer, or encode outside "
                "the graph"
            )
        )


def segmentation(model):
    """Creates the module that segments texts into the pieces of a `ModelProto`."""
    spec = model.trainer_spec
    kind = {spec.UNIGRAM: Unigram, spec.BPE: BytePairs, spec.CHAR: Characters, spec.WORD: Words}[spec.model_type]
    pieces = {piece.piece: i for i, piece in enumerate(model.pieces) if piece.type == piece.NORMAL}
    return kind(pieces, [piece.score for piece in model.pieces])


def spelling(model):
    """Creates the module that assigns ids to what no piece of a `ModelProto` covers."""
    if not model.trainer_spec.byte_fallback:
        return UnknownAsOne(len(model.pieces))
    ids = {piece.piece: i for i, piece in enumerate(model.pieces) if piece.type == piece.BYTE}
    return UnknownAsBytes(len(model.pieces), [ids[f"<0x{byte:02X}>"] for byte in range(256)])
