"""The encoder (section 3.1, Figure 1 left)."""

from typing import Any

import keras

from keras_transformer.layers import Tensor
from keras_transformer.layers.attention import MultiHeadAttention
from keras_transformer.layers.embedding import TokenEmbedding
from keras_transformer.layers.feed_forward import FeedForward
from keras_transformer.layers.positional_encoding import DRAWN_ROWS, PositionalEncoding
from keras_transformer.layers.residual import EPSILON, AddAndNorm


@keras.saving.register_keras_serializable(package="keras_transformer")
class EncoderLayer(keras.layers.Layer):
    """One encoder layer: self-attention and a feed-forward network, each followed by Add & Norm (section 3.1).

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
        self.feed_forward = FeedForward(dff, d_model, name="feed_forward", dtype=policy)
        self.feed_forward_norm = AddAndNorm(dropout, norm_first, name="feed_forward_norm", dtype=policy)

    def build(self, inputs_shape, padding_mask_shape=None):
        self.self_attention.build(dict.fromkeys(("query", "key", "value"), inputs_shape))
        self.self_attention_norm.build(inputs_shape, inputs_shape)
        self.feed_forward.build(inputs_shape)
        self.feed_forward_norm.build(inputs_shape, inputs_shape)

    def call(
        self, inputs: Tensor, padding_mask: Tensor, return_attention_scores: bool = False, training: bool | None = None
    ) -> Any:
        """Maps (batch, length, d_model) to the same shape. `padding_mask` is (batch, 1, 1, length), 1 = masked.

        With `return_attention_scores`, returns a tuple of the output and the attention weights, shape
        (batch, num_heads, length, length).
        """
        x = self.self_attention_norm.sublayer_input(inputs)
        attended, scores = self.self_attention(
            {"query": x, "key": x, "value": x, "mask": padding_mask}, return_attention_scores=True
        )
        x = self.self_attention_norm(inputs, attended, training=training)
        outputs = self.feed_forward(self.feed_forward_norm.sublayer_input(x))
        x = self.feed_forward_norm(x, outputs, training=training)
        return (x, scores) if return_attention_scores else x

    def compute_output_shape(self, inputs_shape, padding_mask_shape=None):
        return inputs_shape

    def get_config(self):
        return {**super().get_config(), **self.sizes}


@keras.saving.register_keras_serializable(package="keras_transformer")
class Encoder(keras.layers.Layer):
    """Positional encoding, dropout and `num_layers` encoder layers (section 3.1). `norm_first` adds a final norm.

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
            EncoderLayer(dff, d_model, num_heads, dropout, norm_first, name=f"layer_{i}", dtype=policy)
            for i in range(num_layers)
        ]
        self.norm = final_norm(policy) if norm_first else None

    def build(self, x_shape, padding_mask_shape=None, positions_shape=None):
        for layer in self.layers:
            layer.build(x_shape)
        if self.norm:
            self.norm.build(x_shape)

    def call(
        self, x: Tensor, padding_mask: Tensor, positions: Tensor | None = None, return_attention_scores: bool = False,
        training: bool | None = None,
    ) -> Any:  # fmt: skip
        """Encodes embeddings of shape (batch, length, d_model).

        Args:
            x: Token embeddings, shape (batch, length, d_model).
            padding_mask: Shape (batch, 1, 1 or length, length), 1 = masked.
            positions: Position of each token in its sequence, shape (batch, length). Defaults to 0, 1, 2, …
            return_attention_scores: Whether to return the attention weights too.
            training: Whether dropout is active.

        Returns:
            The encoder output (the memory), of the same shape as `x`. With `return_attention_scores`, a tuple of it and
            a list of the attention weights of each layer, shape (batch, num_heads, length, length).
        """
        x = self.dropout(self.position(x, positions), training=training)
        scores = []
        for layer in self.layers:
            x, layer_scores = layer(x, padding_mask, return_attention_scores=True, training=training)
            scores.append(layer_scores)
        if self.norm:
            x = self.norm(x)
        return (x, scores) if return_attention_scores else x

    def compute_output_shape(self, x_shape, *other_shapes):
        return x_shape

    def get_config(self):
        return {**super().get_config(), **self.sizes}


def final_norm(dtype):
    """Creates the layer normalization that follows the last layer of a pre-norm encoder or decoder."""
    return keras.layers.LayerNormalization(epsilon=EPSILON, name="norm", dtype=dtype)


def encoder_layer(
    dff: int, d_model: int, num_heads: int, dropout: float, name: str = "encoder_layer",
    *, norm_first: bool = False,
) -> keras.Model:  # fmt: skip
    """Creates a model of one encoder layer.

    Args:
        dff: Inner width of the feed-forward network.
        d_model: Width of the input and the output.
        num_heads: Number of attention heads.
        dropout: Dropout rate.
        name: Name of the model.
        norm_first: Whether to normalize each sublayer's input (pre-norm) instead of its output (post-norm).

    Returns:
        A `keras.Model` with inputs [inputs (batch, length, d_model), padding_mask (batch, 1, 1, length)] and an output
        of shape (batch, length, d_model).
    """
    inputs = keras.Input((None, d_model), name="inputs")
    padding_mask = keras.Input((1, 1, None), name="padding_mask")
    outputs = EncoderLayer(dff, d_model, num_heads, dropout, norm_first, name="layer")(inputs, padding_mask)
    return keras.Model([inputs, padding_mask], outputs, name=name)


def encoder(
    vocab_size: int, num_layers: int, dff: int, d_model: int, num_heads: int, dropout: float, name: str = "encoder",
    *, norm_first: bool = False,
) -> keras.Model:  # fmt: skip
    """Creates a model of the embedding and the encoder.

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
        A `keras.Model` with inputs [inputs (token ids, (batch, length)), padding_mask (batch, 1, 1, length)] and an
        output of shape (batch, length, d_model).
    """
    inputs = keras.Input((None,), dtype="int32", name="inputs")
    padding_mask = keras.Input((1, 1, None), name="padding_mask")
    x = TokenEmbedding(vocab_size, d_model, name="embedding")(inputs)
    memory = Encoder(num_layers, dff, d_model, num_heads, dropout, norm_first, name="encoder")(x, padding_mask)
    return keras.Model([inputs, padding_mask], memory, name=name)
