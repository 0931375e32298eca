"""Detokenization: converts token ids to text in a graph."""

import tensorflow as tf

from keras_transformer.text.ops.normalizer import Normalizer
from keras_transformer.text.sentence_pieces import SPACE

LEADS = {1: (b"\x00", b"\x80"), 2: (b"\xc0", b"\xe0"), 3: (b"\xe0", b"\xf0"), 4: (b"\xf0", b"\xf8")}
"""Range of the first byte of a UTF-8 character, by the number of its bytes."""

REPLACEMENT = "\ufffd"


class Detokenizer(tf.Module):
    """Joins pieces as SentencePiece does.

    Args:
        model: The `ModelProto` of the SentencePiece model.
    """

    def __init__(self, model):
        super().__init__()
        spec, unknown = model.normalizer_spec, model.trainer_spec.unk_surface.encode()
        surfaces = [surface_of(piece, unknown) for piece in model.pieces]
        opens = spec.add_dummy_prefix or spec.remove_extra_whitespaces
        drops = [opens and piece.piece.startswith(SPACE) for piece in model.pieces]
        openings = [surface[1:] if drop else surface for surface, drop in zip(surfaces, drops)]
        # A text has begun after its first nonempty piece. If spaces are not trimmed, a dropped space counts as well.
        begins = [bool(x) or (drop and not spec.remove_extra_whitespaces) for x, drop in zip(openings, drops)]
        bytes_ = [surface if piece.type == piece.BYTE else b"" for surface, piece in zip(surfaces, model.pieces)]
        self._surfaces, self._openings = tf.constant(surfaces), tf.constant(openings)
        self._begins, self._bytes = tf.constant(begins, tf.int32), tf.constant(bytes_)
        self._lengths = tf.constant([length_of(byte) for byte in bytes_])
        composes = bool(model.denormalizer_spec.precompiled_charsmap)
        self._compose = Normalizer(model.denormalizer_spec) if composes else tf.identity

    def __call__(self, ids):
        """Decodes an int32 RaggedTensor (batch, None) into strings (batch,)."""
        openings, surfaces = (tf.gather(strings, ids.values) for strings in (self._openings, self._surfaces))
        strings = tf.where(self._are_first(ids), openings, surfaces)
        strings = tf.where(self._are_whole(ids), strings, REPLACEMENT)
        return self._compose(tf.strings.unsorted_segment_join(strings, ids.value_rowids(), ids.nrows()))

    def _are_first(self, ids):
        """Returns whether each id is at the beginning of its text: bool (ids,)."""
        begun = tf.cumsum(tf.gather(self._begins, ids.values), exclusive=True)
        return begun == tf.gather(begun, tf.gather(ids.row_starts(), ids.value_rowids()))

    def _are_whole(self, ids):
        """Returns whether each id is not a byte, or forms a character with adjacent bytes: bool (ids,)."""
        bytes_, lengths = tf.gather(self._bytes, ids.values), tf.gather(self._lengths, ids.values)
        rows = ids.value_rowids()
        bytes_ahead, rows_ahead = (
            tf.pad(bytes_, [[0, 3]], constant_values=""),
            tf.pad(rows, [[0, 3]], constant_values=-1),
        )
        characters, count = bytes_, tf.size(rows)
        for n in (1, 2, 3):
            belongs = (n < lengths) & (rows_ahead[n : n + count] == rows)
            characters = tf.strings.join([characters, tf.where(belongs, bytes_ahead[n : n + count], "")])
        first = whole = tf.strings.unicode_transcode(characters, "UTF-8", "UTF-8") == characters
        for n in (1, 2, 3):
            whole |= tf.concat([tf.zeros_like(first[:n]), (first & (n < lengths))[:-n]], axis=0)
        return whole


def surface_of(piece, unknown):
    """Returns the bytes that a piece adds to a text."""
    if piece.type == piece.CONTROL:
        return b""
    if piece.type == piece.UNKNOWN:
        return unknown
    if piece.type == piece.BYTE:
        return bytes.fromhex(piece.piece[3:-1])  # <0x41>
    return piece.piece.replace(SPACE, " ").encode()


def length_of(byte):
    """Returns the number of bytes of a character that begins with this byte, or 0 if none does."""
    return next((length for length, (first, end) in LEADS.items() if first <= byte < end), 0)
