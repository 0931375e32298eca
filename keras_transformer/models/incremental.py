"""Incremental decoding with a trained Transformer: encode once, then run one cached decoder step per token."""

import keras
from keras import ops

from keras_transformer.layers.masks import create_padding_mask
from keras_transformer.models.transformer import components_of


class IncrementalTransformer:
    """Runs the components of a `transformer()` model step by step for autoregressive decoding.

    Args:
        model: A model created by `transformer()`, or one loaded from a file.

    Raises:
        ValueError: If the model was not created by `transformer()`.
    """

    def __init__(self, model):
        self.components = components_of(model)

    def prefill(self, inputs, rows, copies=1, attention=False):
        """Encodes the questions and creates the cache.

        Args:
            inputs: Token ids, integer, shape (batch, length). 0 is padding.
            rows: Maximum number of decoding steps.
            copies: Number of hypotheses per question. Those of a question are in adjacent rows.
            attention: Whether to keep the attention weights.

        Returns:
            The cache for `decode_step`, a dictionary of tensors with batch · copies rows. With `attention`, its
            "attention" holds "encoder" (batch, layers, heads, length, length), "decoder" (batch, layers, heads, rows,
            rows) and "cross" (batch, layers, heads, rows, length). Each step writes its own row of the last two.
        """
        padding_mask = create_padding_mask(inputs)
        embedded = self.components.embed_source(inputs)
        memory, scores = self.components.encoder(embedded, padding_mask, return_attention_scores=True, training=False)
        cache = {"padding_mask": padding_mask, "layers": self.components.decoder.start_cache(memory, rows)}
        if attention:
            cache["attention"] = start_attention(ops.stack(scores, axis=1), rows)
        return cache if copies == 1 else keras.tree.map_structure(lambda x: ops.repeat(x, copies, axis=0), cache)

    def decode_step(self, ids, index, cache):
        """Runs the decoder for one token of each answer.

        Args:
            ids: Token ids at position `index`, shape (rows,).
            index: int32 scalar, counted from 0.
            cache: The cache that `prefill` or the previous `decode_step` returned.

        Returns:
            A tuple of the logits of the next tokens, float32, shape (rows, vocab_size), and the cache for the next
            step.
        """
        rows = ops.shape(cache["layers"][0]["self_attention"]["key"])[2]
        # Masks the rows after this position, which are not written yet.
        unwritten = ops.cast(ops.reshape(ops.arange(rows), (1, 1, 1, rows)) > index, "float32")
        outputs, layers, scores = self.components.decoder(
            self.components.embed_target(ops.expand_dims(ids, 1)), None, unwritten, cache["padding_mask"],
            cache=cache["layers"], cache_update_index=index, return_attention_scores=True, training=False,
        )  # fmt: skip
        logits = ops.cast(self.components.project(outputs)[:, 0], "float32")
        next_cache = {**cache, "layers": layers}
        if "attention" in cache:
            next_cache["attention"] = with_row(cache["attention"], scores, index)
        return logits, next_cache

    def reorder_cache(self, cache, rows):
        """Reorders the cache: row i of the result is row `rows[i]`, which must belong to the same question.

        Entries that depend on the question only are equal in all of its rows, so they are left as they are.
        """
        layers = [
            {
                **layer,
                "self_attention": {name: ops.take(x, rows, axis=0) for name, x in layer["self_attention"].items()},
            }
            for layer in cache["layers"]
        ]
        return {**cache, "layers": layers}


def start_attention(encoder, rows):
    """Creates room for the attention weights of `rows` steps, next to those of the encoder.

    Args:
        encoder: Attention weights of the encoder, shape (batch, layers, heads, length, length).
        rows: Maximum number of decoding steps.

    Returns:
        A dictionary of "encoder", "decoder" and "cross", as described in `IncrementalTransformer.prefill`.
    """
    *shape, _, length = ops.shape(encoder)
    keys = {"decoder": rows, "cross": length}
    return {"encoder": encoder, **{name: ops.zeros((*shape, rows, keys[name]), encoder.dtype) for name in keys}}


def with_row(attention, scores, index):
    """Returns the attention weights with the scores of the step at `index` written in, one dictionary per layer."""
    updated = dict(attention)
    for name, sublayer in (("decoder", "self_attention"), ("cross", "cross_attention")):
        row = ops.stack([layer[sublayer] for layer in scores], axis=1)
        updated[name] = ops.slice_update(attention[name], (0, 0, 0, index, 0), row)
    return updated
