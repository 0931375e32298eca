"""A trained Transformer taken a token at a time: encode once, then one cached decoder step per token."""

from keras import ops

from keras_transformer.layers.masks import create_padding_mask
from keras_transformer.models.transformer import parts_of


class SteppingTransformer:
    """The parts of a `transformer()` model, called separately as free-running decoding needs them.

    Args:
        model: What `transformer()` returned, or the same loaded from a file.

    Raises:
        ValueError: If the model was not made by `transformer()`.
    """

    def __init__(self, model):
        self.parts = parts_of(model)

    def start(self, inputs, rows):
        """Encodes the questions.

        Args:
            inputs: Token ids (batch, length), 0 for padding.
            rows: Steps that will be made at most.

        Returns:
            A dictionary of tensors to hand to `step`.
        """
        padding_mask = create_padding_mask(inputs)
        memory = self.parts.encoder(self.parts.embed_source(inputs), padding_mask, training=False)
        return {"padding_mask": padding_mask, "layers": self.parts.decoder.start_cache(memory, rows)}

    def step(self, ids, index, cache):
        """Reads one token of each answer.

        Args:
            ids: Token ids (batch,), those at position `index`.
            index: int32 scalar, from 0.
            cache: What `start` or the last `step` returned.

        Returns:
            Logits of the next tokens, float32 (batch, vocab_size), and the cache for the next step.
        """
        rows = ops.shape(cache["layers"][0]["self_attention"]["key"])[2]
        # The rows after this position are not written yet.
        unwritten = ops.cast(ops.reshape(ops.arange(rows), (1, 1, 1, rows)) > index, "float32")
        outputs, layers = self.parts.decoder(
            self.parts.embed_target(ops.expand_dims(ids, 1)), None, unwritten, cache["padding_mask"],
            cache=cache["layers"], index=index, training=False,
        )  # fmt: skip
        logits = ops.cast(self.parts.project(outputs)[:, 0], "float32")
        return logits, {"padding_mask": cache["padding_mask"], "layers": [without_weights(layer) for layer in layers]}


def without_weights(layer_cache):
    """A layer's cache less the attention weights, so that it has the same structure at every step."""
    return {name: {"key": part["key"], "value": part["value"]} for name, part in layer_cache.items()}
