"""A trained Transformer taken a token at a time: encode once, then one cached decoder step per token."""

import keras
from keras import ops

from keras_transformer.layers.masks import create_padding_mask
from keras_transformer.models.transformer import components_of


class IncrementalTransformer:
    """The parts of a `transformer()` model, called separately as free-running decoding needs them.

    Args:
        model: What `transformer()` returned, or the same loaded from a file.

    Raises:
        ValueError: If the model was not made by `transformer()`.
    """

    def __init__(self, model):
        self.parts = components_of(model)

    def prefill(self, inputs, rows, copies=1, attention=False):
        """Encodes the questions.

        Args:
            inputs: Token ids (batch, length), 0 for padding.
            rows: Steps that will be made at most.
            copies: Answers to each question that grow side by side; those of a question stand next to each other.
            attention: Whether the attention weights are kept.

        Returns:
            A dictionary of tensors to hand to `decode_step`, each with batch · copies rows. With `attention`, its
            "attention" holds "encoder" (batch, layers, heads, length, length), "decoder" (batch, layers, heads, rows,
            rows) and "cross" (batch, layers, heads, rows, length), in which each step fills in its row.
        """
        padding_mask = create_padding_mask(inputs)
        embedded = self.parts.embed_source(inputs)
        encoded, seen = self.parts.encoder(embedded, padding_mask, cache=[], training=False)
        cache = {"padding_mask": padding_mask, "layers": self.parts.decoder.start_cache(encoded, rows)}
        if attention:
            cache["attention"] = start_attention(ops.stack([layer["weights"] for layer in seen], axis=1), rows)
        return cache if copies == 1 else keras.tree.map_structure(lambda x: ops.repeat(x, copies, axis=0), cache)

    def decode_step(self, ids, index, cache):
        """Reads one token of each answer.

        Args:
            ids: Token ids (rows,), those at position `index`.
            index: int32 scalar, from 0.
            cache: What `prefill` or the last `decode_step` returned.

        Returns:
            Logits of the next tokens, float32 (rows, vocab_size), and the cache for the next step.
        """
        rows = ops.shape(cache["layers"][0]["self_attention"]["key"])[2]
        # The rows after this position are not written yet.
        unwritten = ops.cast(ops.reshape(ops.arange(rows), (1, 1, 1, rows)) > index, "float32")
        outputs, layers = self.parts.decoder(
            self.parts.embed_target(ops.expand_dims(ids, 1)), None, unwritten, cache["padding_mask"],
            cache=cache["layers"], index=index, training=False,
        )  # fmt: skip
        logits = ops.cast(self.parts.project(outputs)[:, 0], "float32")
        after = {**cache, "layers": [without_weights(layer) for layer in layers]}
        if "attention" in cache:
            after["attention"] = with_row(cache["attention"], layers, index)
        return logits, after

    def reorder_cache(self, cache, rows):
        """The cache of other rows: row i is what row `rows[i]`, of the same question, was.

        What comes from the question alone is the same in all of its rows, and stays.
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
    """Room for the weights of so many steps, beside those of the encoder (batch, layers, heads, length, length)."""
    *shape, _, length = ops.shape(encoder)
    keys = {"decoder": rows, "cross": length}
    return {"encoder": encoder, **{name: ops.zeros((*shape, rows, keys[name]), encoder.dtype) for name in keys}}


def with_row(attention, layers, index):
    """The attention weights with those of the step at `index`."""
    after = dict(attention)
    for name, part in (("decoder", "self_attention"), ("cross", "cross_attention")):
        row = ops.stack([layer[part]["weights"] for layer in layers], axis=1)
        after[name] = ops.slice_update(attention[name], (0, 0, 0, index, 0), row)
    return after


def without_weights(layer_cache):
    """A layer's cache less the attention weights, so that it has the same structure at every step."""
    return {name: {"key": part["key"], "value": part["value"]} for name, part in layer_cache.items()}
