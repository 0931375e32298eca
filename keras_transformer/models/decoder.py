"""The decoder (section 3.1, Figure 1 right)."""

from typing import Any

import keras
from keras import ops

from keras_transformer.layers import Tensor
from keras_transformer.layers.attention import MultiHeadAttention, with_extras
from keras_transformer.layers.embedding import TokenEmbedding
from keras_transformer.layers.feed_forward import FeedForward
from keras_transformer.layers.positional_encoding import DRAWN_ROWS, PositionalEncoding
from keras_transformer.layers.residual import AddAndNorm
from keras_transformer.models.encoder import final_norm


@keras.saving.register_keras_serializable(package="keras_transformer")
class DecoderLayer(keras.layers.Layer):
    """One decoder layer (section 3.1).

    Masked self-attention, cross-attention and a feed-forward network, each followed by Add & Norm.

    Args:
        dff: Inner width of the feed-forward network.
        d_model: Width of the input and the output.
        num_heads: Number of attention heads.
        dropout: Dropout rate.
        norm_first: Whether to normalize each sublayer's input (pre-norm) instead of its output (post-norm).
    """

    def __init__(self, dff: int, d_model: int, num_heads: int, dropout: float, norm_first: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.sizes = {
            "dff": dff, "d_model": d_model, "num_heads": num_heads, "dropout": dropout, "norm_first": norm_first,
        }  # fmt: skip
        policy = self.dtype_policy
        self.self_attention = MultiHeadAttention(d_model, num_heads, name="self_attention", dtype=policy)
        self.self_attention_norm = AddAndNorm(dropout, norm_first, name="self_attention_norm", dtype=policy)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, name="cross_attention", dtype=policy)
        self.cross_attention_norm = AddAndNorm(dropout, norm_first, name="cross_attention_norm", dtype=policy)
        self.feed_forward = FeedForward(dff, d_model, name="feed_forward", dtype=policy)
        self.feed_forward_norm = AddAndNorm(dropout, norm_first, name="feed_forward_norm", dtype=policy)

    def build(self, inputs_shape, memory_shape, look_ahead_mask_shape=None, padding_mask_shape=None):
        self.self_attention.build(dict.fromkeys(("query", "key", "value"), inputs_shape))
        self.self_attention_norm.build(inputs_shape, inputs_shape)
        self.cross_attention.build({"query": inputs_shape, "key": memory_shape, "value": memory_shape})
        self.cross_attention_norm.build(inputs_shape, inputs_shape)
        self.feed_forward.build(inputs_shape)
        self.feed_forward_norm.build(inputs_shape, inputs_shape)

    def call(
        self, inputs: Tensor, memory: Tensor, look_ahead_mask: Tensor, padding_mask: Tensor, cache: dict | None = None,
        cache_update_index: Tensor | None = None, return_attention_scores: bool = False, training: bool | None = None,
    ) -> Any:  # fmt: skip
        """Maps (batch, length, d_model) to the same shape and attends to the encoder output.

        Args:
            inputs: Embeddings or the output of the previous layer, shape (batch, length, d_model).
            memory: Encoder output, shape (batch, memory length, d_model). Not read with a cache, which holds its keys
                and values.
            look_ahead_mask: Shape (batch, 1, length, rows), 1 = masked.
            padding_mask: Mask of the memory, shape (batch, 1, 1, memory length), 1 = masked.
            cache: None, or a dictionary of the caches of "self_attention" and "cross_attention", as described in
                `MultiHeadAttention.call`.
            cache_update_index: With a cache, the position of the first row of `inputs`.
            return_attention_scores: Whether to return the attention weights too.
            training: Whether dropout is active.

        Returns:
            The output. With a cache, a tuple of the output and the updated cache. With `return_attention_scores`, a
            dictionary of the attention weights of "self_attention" and "cross_attention" follows.
        """
        caches = cache or {"self_attention": None, "cross_attention": None}
        x = self.self_attention_norm.sublayer_input(inputs)
        attended, *updated, self_scores = self.self_attention(
            {"query": x, "key": x, "value": x, "mask": look_ahead_mask},
            cache=caches["self_attention"], cache_update_index=cache_update_index, return_attention_scores=True,
        )  # fmt: skip
        x = self.self_attention_norm(inputs, attended, training=training)
        query = self.cross_attention_norm.sublayer_input(x)
        attended, *_, cross_scores = self.cross_attention(
            {"query": query, "key": memory, "value": memory, "mask": padding_mask},
            cache=caches["cross_attention"], return_attention_scores=True,
        )  # fmt: skip
        x = self.cross_attention_norm(x, attended, training=training)
        outputs = self.feed_forward(self.feed_forward_norm.sublayer_input(x))
        x = self.feed_forward_norm(x, outputs, training=training)
        if cache is not None:
            cache = {**cache, "self_attention": updated[0]}
        scores = {"self_attention": self_scores, "cross_attention": cross_scores}
        return with_extras(x, cache, scores if return_attention_scores else None)

    def compute_output_shape(self, inputs_shape, *other_shapes):
        return inputs_shape

    def get_config(self):
        return {**super().get_config(), **self.sizes}


@keras.saving.register_keras_serializable(package="keras_transformer")
class Decoder(keras.layers.Layer):
    """Positional encoding, dropout and `num_layers` decoder layers (section 3.1). `norm_first` adds a final norm.

    Args:
        num_layers: Number of layers (N in the paper).
        dff: Inner width of the feed-forward networks.
        d_model: Width of the output.
        num_heads: Number of attention heads.
        dropout: Dropout rate.
        norm_first: Whether to normalize each sublayer's input (pre-norm) instead of its output (post-norm).
    """

    def __init__(
        self, num_layers: int, dff: int, d_model: int, num_heads: int, dropout: float, norm_first: bool = False,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.sizes = {
            "num_layers": num_layers, "dff": dff, "d_model": d_model, "num_heads": num_heads, "dropout": dropout,
            "norm_first": norm_first,
        }  # fmt: skip
        policy = self.dtype_policy
        self.position = PositionalEncoding(DRAWN_ROWS, d_model, name="position", dtype=policy)
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=policy)
        self.layers = [
            DecoderLayer(dff, d_model, num_heads, dropout, norm_first, name=f"layer_{i}", dtype=policy)
            for i in range(num_layers)
        ]
        self.norm = final_norm(policy) if norm_first else None

    def build(self, x_shape, memory_shape, look_ahead_mask_shape=None, padding_mask_shape=None, positions_shape=None):
        for layer in self.layers:
            layer.build(x_shape, memory_shape)
        if self.norm:
            self.norm.build(x_shape)

    def call(
        self, x: Tensor, memory: Tensor, look_ahead_mask: Tensor, padding_mask: Tensor, positions: Tensor | None = None,
        cache: list[dict] | None = None, cache_update_index: Tensor | None = None,
        return_attention_scores: bool = False, training: bool | None = None,
    ) -> Any:  # fmt: skip
        """Decodes embeddings of shape (batch, length, d_model).

        Args:
            x: Embeddings of the target tokens, shape (batch, length, d_model).
            memory: Encoder output, shape (batch, memory length, d_model). Not read with a cache.
            look_ahead_mask: Shape (batch, 1, length, rows), 1 = masked.
            padding_mask: Mask of the memory, shape (batch, 1, 1 or length, memory length), 1 = masked.
            positions: Position of each token in its sequence, shape (batch, length). Defaults to 0, 1, 2, …
            cache: None for a full pass. For incremental decoding, the result of `start_cache` at the first step and the
                cache of the previous step after that.
            cache_update_index: With a cache, the position of the single token in `x`.
            return_attention_scores: Whether to return the attention weights too.
            training: Whether dropout is active.

        Returns:
            The output, of the same shape as `x`. With a cache, a tuple of the output and the cache for the next step.
            With `return_attention_scores`, a list follows of the attention weights of each layer, as described in
            `DecoderLayer.call`.
        """
        if cache_update_index is not None:
            positions = ops.reshape(cache_update_index, (1,))
        x = self.dropout(self.position(x, positions), training=training)
        caches, scores = [], []
        for i, layer in enumerate(self.layers):
            x, *updated, layer_scores = layer(
                x, memory, look_ahead_mask, padding_mask, cache=None if cache is None else cache[i],
                cache_update_index=cache_update_index, return_attention_scores=True, training=training,
            )  # fmt: skip
            caches += updated
            scores.append(layer_scores)
        if self.norm:
            x = self.norm(x)
        return with_extras(x, None if cache is None else caches, scores if return_attention_scores else None)

    def start_cache(self, memory: Tensor, rows: int) -> list[dict]:
        """Creates the cache for incremental decoding.

        It holds the keys and values of the memory, and zeros for the keys and values of `rows` target tokens.

        Args:
            memory: Encoder output, shape (batch, memory length, d_model).
            rows: Maximum number of decoding steps.

        Returns:
            A list of one dictionary per layer, as described in `DecoderLayer.call`.
        """
        return [layer_start_cache(layer, memory, rows) for layer in self.layers]

    def compute_output_shape(self, x_shape, *other_shapes):
        return x_shape

    def get_config(self):
        return {**super().get_config(), **self.sizes}


def layer_start_cache(layer, memory, rows):
    """Creates the cache of one `DecoderLayer`."""
    cross, own = layer.cross_attention, layer.self_attention
    room = ops.zeros((ops.shape(memory)[0], own.num_heads, rows, own.depth), dtype=layer.compute_dtype)
    key, value = cross.keys_and_values({"key": memory, "value": memory})
    return {"self_attention": {"key": room, "value": room}, "cross_attention": {"key": key, "value": value}}


def decoder_layer(
    dff: int, d_model: int, num_heads: int, dropout: float, name: str = "decoder_layer",
    *, norm_first: bool = False,
) -> keras.Model:  # fmt: skip
    """Creates a model of one decoder layer.

    Args:
        dff: Inner width of the feed-forward network.
        d_model: Width of the input and the output.
        num_heads: Number of attention heads.
        dropout: Dropout rate.
        name: Name of the model.
        norm_first: Whether to normalize each sublayer's input (pre-norm) instead of its output (post-norm).

    Returns:
        A `keras.Model` with inputs [inputs (batch, length, d_model), encoder_outputs (batch, memory length, d_model),
        look_ahead_mask (batch, 1, length, length), padding_mask (batch, 1, 1, memory length)] and an output of shape
        (batch, length, d_model).
    """
    inputs = keras.Input((None, d_model), name="inputs")
    memory = keras.Input((None, d_model), name="encoder_outputs")
    look_ahead_mask = keras.Input((1, None, None), name="look_ahead_mask")
    padding_mask = keras.Input((1, 1, None), name="padding_mask")
    layer = DecoderLayer(dff, d_model, num_heads, dropout, norm_first, name="layer")
    outputs = layer(inputs, memory, look_ahead_mask, padding_mask)
    return keras.Model([inputs, memory, look_ahead_mask, padding_mask], outputs, name=name)


def decoder(
    vocab_size: int, num_layers: int, dff: int, d_model: int, num_heads: int, dropout: float, name: str = "decoder",
    *, norm_first: bool = False,
) -> keras.Model:  # fmt: skip
    """Creates a model of the embedding and the decoder.

    Args:
        vocab_size: Size of the vocabulary.
        num_layers: Number of layers.
        dff: Inner width of the feed-forward networks.
        d_model: Width of the output.
        num_heads: Number of attention heads.
        dropout: Dropout rate.
        name: Name of the model.
        norm_first: Whether to normalize each sublayer's input (pre-norm) instead of its output (post-norm).

    Returns:
        A `keras.Model` with inputs [inputs (token ids, (batch, length)), encoder_outputs (batch, memory length,
        d_model), look_ahead_mask (batch, 1, length, length), padding_mask (batch, 1, 1, memory length)] and an output
        of shape (batch, length, d_model).
    """
    inputs = keras.Input((None,), dtype="int32", name="inputs")
    memory = keras.Input((None, d_model), name="encoder_outputs")
    look_ahead_mask = keras.Input((1, None, None), name="look_ahead_mask")
    padding_mask = keras.Input((1, 1, None), name="padding_mask")
    x = TokenEmbedding(vocab_size, d_model, name="embedding")(inputs)
    stack = Decoder(num_layers, dff, d_model, num_heads, dropout, norm_first, name="decoder")
    outputs = stack(x, memory, look_ahead_mask, padding_mask)
    return keras.Model([inputs, memory, look_ahead_mask, padding_mask], outputs, name=name)
