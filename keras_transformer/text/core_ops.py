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
from keras_transformer.text.ops.unknown import UnknownAsBytes, UnknownAsOne
from keras_transformer.text.sentence_pieces import SentencePieces

CPU = "CPU:0"  # String operations run on the CPU anyway. This avoids transfers to another device and back.


class CoreTokenizer(tf.Module):
    """A `Tokenizer` whose `encode` and `decode` run inside a TensorFlow graph and only need TensorFlow.

    A module saved as a SavedModel must hold it as an attribute, so that its lookup tables are saved. Invalid UTF-8
    bytes are treated as U+FFFD.

    Args:
        tokenizer: The `Tokenizer` to reproduce.

    Raises:
        InputError: If the tokenizer is a `.subwords` vocabulary, or a SentencePiece model with features that
            `Tokenizer.train` does not use.
    """

    def __init__(self, tokenizer):
        super().__init__()
        if tokenizer.ending != SentencePieces.ending:
            raise InputError(
                _("a .subwords vocabulary has no operation in TensorFlow: encode its text outside the graph")
            )
        model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
        check(model)
        with tf.device(CPU):
            self._compose = Composition()
            self._normalize = Normalizer(model.normalizer_spec)
            self._segment = segmentation(model)
            self._spell = spelling(model)
            self._join = Detokenizer(model)

    def normalize(self, texts):
        """Normalizes strings (batch,) as `text.normalize` does."""
        with tf.device(CPU):
            return tf.strings.strip(tf.strings.regex_replace(self._compose(texts), re2(SPACES), " "))

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
