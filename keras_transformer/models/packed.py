"""The Transformer on rows that hold several questions and several answers, so that almost nothing is padding."""

import keras
from keras import ops

from keras_transformer.layers.masks import LookAheadMask, PositionsInSegments, SegmentMask
from keras_transformer.models.transformer import components_of


def packed(model):
    """The same model, with the same weights, for the batches of `make_dataset(…, packed=True)`.

    Each text is read as if it stood alone: tokens see those of their own pair only, and positions are counted from the
    start of each text. Training one trains the other.

    Args:
        model: What `transformer()` returned, or the same loaded from a file.

    Returns:
        A functional `keras.Model`. Inputs, all int32: "inputs" and "segments" (batch, length), "dec_inputs" and
        "dec_segments" (batch, answer length), where segments number the pairs of a row from 1, with 0 for padding.
        Output: logits (batch, answer length, vocab_size).

    Raises:
        ValueError: If the model was not made by `transformer()`.
    """
    parts = components_of(model)
    names = ("inputs", "segments", "dec_inputs", "dec_segments")
    inputs, segments, dec_inputs, dec_segments = (keras.Input((None,), dtype="int32", name=name) for name in names)
    position, mask = PositionsInSegments(name="positions"), SegmentMask(name="segment_mask")
    padding_mask, own_mask = mask(segments, segments), mask(dec_segments, dec_segments)
    memory = parts.encoder(parts.embed_source(inputs), padding_mask, positions=position(segments))
    decoded = parts.decoder(
        parts.embed_target(dec_inputs),
        memory,
        ops.maximum(LookAheadMask(name="look_ahead_mask")(dec_inputs), own_mask),
        mask(dec_segments, segments),
        positions=position(dec_segments),
    )
    return keras.Model([inputs, segments, dec_inputs, dec_segments], parts.project(decoded), name=model.name)
