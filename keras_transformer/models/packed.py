"""The Transformer for packed sequences, where each row holds several question-answer pairs and little padding."""

import keras
from keras import ops

from keras_transformer.layers.masks import LookAheadMask, PositionsInSegments, SegmentMask
from keras_transformer.models.transformer import components_of


def packed(model: keras.Model) -> keras.Model:
    """Returns the same model, with shared weights, for the packed batches of `make_dataset(…, packed=True)`.

    Tokens attend only to tokens of their own pair, and positions restart at 0 in each sequence. The results are the
    same as without packing.

    Args:
        model: A model created by `transformer()`, or one loaded from a file.

    Returns:
        A functional `keras.Model`. Inputs, all int32: "inputs" and "segments" (batch, length), "dec_inputs" and
        "dec_segments" (batch, answer length). Segment ids number the pairs of a row from 1, and 0 is padding.
        Output: logits (batch, answer length, vocab_size).

    Raises:
        ValueError: If the model was not created by `transformer()`.
    """
    components = components_of(model)
    names = ("inputs", "segments", "dec_inputs", "dec_segments")
    inputs, segments, dec_inputs, dec_segments = (keras.Input((None,), dtype="int32", name=name) for name in names)
    position, mask = PositionsInSegments(name="positions"), SegmentMask(name="segment_mask")
    padding_mask, own_mask = mask(segments, segments), mask(dec_segments, dec_segments)
    memory = components.encoder(components.embed_source(inputs), padding_mask, positions=position(segments))
    decoded = components.decoder(
        components.embed_target(dec_inputs),
        memory,
        ops.maximum(LookAheadMask(name="look_ahead_mask")(dec_inputs), own_mask),
        mask(dec_segments, segments),
        positions=position(dec_segments),
    )
    return keras.Model([inputs, segments, dec_inputs, dec_segments], components.project(decoded), name=model.name)
