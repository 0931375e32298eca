"""From token ids to text."""

import tensorflow as tf

from keras_transformer.text.ops.normalizer import Normalizer
from keras_transformer.text.sentence_pieces import SPACE

REPLACEMENT = "\ufffd"
LEADS = {1: (0, 0x80), 2: (0xC0, 0xE0), 3: (0xE0, 0xF0), 4: (0xF0, 0xF8)}


class Detokenizer(tf.Module):
    """Joins the pieces of a SentencePiece model.

    Args:
        model: Its `ModelProto`.
    """

    def __init__(self, model):
        super().__init__()
        spec, surface = model.normalizer_spec, model.trainer_spec.unk_surface
        surfaces = [surface_of(piece, surface.encode()) for piece in model.pieces]
        openings = [
            x[1:] if piece.piece.startswith(SPACE) and (spec.add_dummy_prefix or spec.remove_extra_whitespaces) else x
            for x, piece in zip(surfaces, model.pieces)
        ]
        self._surfaces, self._openings = tf.constant(surfaces), tf.constant(openings)
        # Where spaces are not trimmed, only one is left out.
        begins = [bool(y) or (x != y and not spec.remove_extra_whitespaces) for x, y in zip(surfaces, openings)]
        self._begins = tf.constant(begins, tf.int32)
        self._bytes = tf.constant([x if piece.type == piece.BYTE else b"" for x, piece in zip(surfaces, model.pieces)])
        self._lengths = tf.constant([length_of(x) if piece.type == piece.BYTE else 0 for x, piece in zip(surfaces, model.pieces)])
        composes = model.denormalizer_spec.precompiled_charsmap
        self._compose = Normalizer(model.denormalizer_spec) if composes else tf.identity

    def __call__(self, ids):
        """Strings (batch,) of int32 ids, ragged (batch, None)."""
        rows = ids.value_rowids()
        strings = tf.where(self._are_first(ids), *(tf.gather(x, ids.values) for x in (self._openings, self._surfaces)))
        strings = tf.where(self._are_whole(ids), strings, REPLACEMENT)
        return self._compose(tf.strings.unsorted_segment_join(strings, rows, ids.nrows()))

    def _are_first(self, ids):
        """Whether nothing of the text stands before each id: bool (ids,)."""
        begun = tf.cumsum(tf.gather(self._begins, ids.values), exclusive=True)
        return begun == tf.gather(begun, tf.gather(ids.row_starts(), ids.value_rowids()))

    def _are_whole(self, ids):
        """Whether each id is no byte or, with those beside it, part of a character: bool (ids,)."""
        rows, lengths, bytes_ = ids.value_rowids(), *(tf.gather(x, ids.values) for x in (self._lengths, self._bytes))
        rows_ahead, bytes_ahead = tf.pad(rows, [[0, 3]], constant_values=-1), tf.pad(bytes_, [[0, 3]], constant_values="")
        sequences = bytes_
        for n in (1, 2, 3):
            more = (n < lengths) & (rows_ahead[n : n - 3 or None] == rows)
            sequences = tf.strings.join([sequences, tf.where(more, bytes_ahead[n : n - 3 or None], "")])
        valid = tf.strings.unicode_transcode(sequences, "UTF-8", "UTF-8") == sequences
        leads = whole = valid & (tf.strings.length(sequences) == lengths)
        for n in (1, 2, 3):
            whole |= tf.concat([tf.zeros_like(leads[:n]), (leads & (n < lengths))[:-n]], axis=0)
        return whole


def surface_of(piece, unknown):
    """What a piece adds to a text, bytes."""
    if piece.type == piece.CONTROL:
        return b""
    if piece.type == piece.UNKNOWN:
        return unknown
    if piece.type == piece.BYTE:
        return bytes([int(piece.piece.strip("<>"), 16)])
    return piece.piece.replace(SPACE, " ").encode()


def length_of(byte):
    """The bytes of a character that this one begins in UTF-8, 0 if it begins none."""
    return next((n for n, (first, end) in LEADS.items() if first <= byte[0] < end), 0)
