"""What a Transformer is made of, block by block in the order of the paper's Figure 1, as its layers tell."""

import dataclasses

import keras

from keras_transformer.models.transformer import components_of


@dataclasses.dataclass(frozen=True)
class Block:
    """A box of Figure 1.

    Attributes:
        kind: "embedding", "attention", "cross_attention", "norm", "feed_forward" or "linear".
        title: Its name in the paper, with its own sizes.
        shape: Of its output, None where the batch and the lengths are.
        parameters: How many numbers it has learned, those of other blocks left out.
        shared: Whether it computes with those of another block.
    """

    kind: str
    title: str
    shape: tuple
    parameters: int
    shared: bool = False


@dataclasses.dataclass(frozen=True)
class Stack:
    """The encoder or the decoder with its embedding.

    Attributes:
        embedding: A `Block`.
        layer: The `Block`s of one layer, in the order of its computation: each sublayer before its Add & Norm; in a
            pre-norm model after its Layer Norm.
        num_layers: How many such layers stand on each other (N).
        norm: The `Block` of the final norm of a pre-norm model; None in a post-norm model.
    """

    embedding: Block
    layer: list
    num_layers: int
    norm: Block | None = None

    @property
    def layer_parameters(self):
        """Parameters of one layer."""
        return sum(block.parameters for block in self.layer)

    @property
    def sublayers(self):
        """The sublayers of one layer, each a pair of `Block`s in the order of `layer`."""
        return list(zip(self.layer[::2], self.layer[1::2]))


@dataclasses.dataclass(frozen=True)
class Shape:
    """All blocks of a model.

    Attributes:
        encoder: A `Stack`.
        decoder: A `Stack`.
        linear: The `Block` of the output projection.
        parameters: Of the whole model, as Keras counts them.
    """

    encoder: Stack
    decoder: Stack
    linear: Block
    parameters: int


def shape_of(model):
    """The `Shape` of a model made by `transformer()`, or of the same loaded from a file.

    Raises:
        ValueError: If the model has not its layers.
    """
    parts = components_of(model)
    source, target = parts.embed_source, parts.embed_target
    tied = not isinstance(parts.project, keras.layers.Layer)
    return Shape(
        encoder=Stack(
            embedding("Input Embedding", source),
            encoder_layer(parts.encoder.layers[0], embedded(source)),
            len(parts.encoder.layers),
            final_norm(parts.encoder, embedded(source)),
        ),
        decoder=Stack(
            embedding("Output Embedding", target, shared=target is source),
            decoder_layer(parts.decoder.layers[0], embedded(target)),
            len(parts.decoder.layers),
            final_norm(parts.decoder, embedded(target)),
        ),
        linear=Block("linear", "Linear", model.output.shape, 0 if tied else parts.project.count_params(), tied),
        parameters=model.count_params(),
    )


def embedded(layer):
    """The shape of what a `TokenEmbedding` makes of ids."""
    return layer.compute_output_spec(keras.KerasTensor((None, None), "int32")).shape


def embedding(title, layer, shared=False):
    """The block of a `TokenEmbedding`."""
    title = f"{title} ({layer.vocab_size:,} tokens)"
    return Block("embedding", title, embedded(layer), 0 if shared else layer.count_params(), shared)


def encoder_layer(layer, shape):
    """The blocks of an `EncoderLayer`."""
    return [
        *with_norm(
            attention("attention", "Multi-Head Attention", layer.self_attention, shape),
            layer.self_attention_norm,
        ),
        *with_norm(feed_forward(layer.feed_forward, shape), layer.feed_forward_norm),
    ]


def decoder_layer(layer, shape):
    """The blocks of a `DecoderLayer`."""
    return [
        *with_norm(
            attention("attention", "Masked Multi-Head Attention", layer.self_attention, shape),
            layer.self_attention_norm,
        ),
        *with_norm(
            attention("cross_attention", "Multi-Head Attention", layer.cross_attention, shape),
            layer.cross_attention_norm,
        ),
        *with_norm(feed_forward(layer.feed_forward, shape), layer.feed_forward_norm),
    ]


def attention(kind, title, layer, shape):
    """The block of a `MultiHeadAttention`."""
    title = f"{title} ({layer.num_heads} × {layer.depth})"
    return Block(kind, title, layer.compute_output_shape({"query": shape}), layer.count_params())


def feed_forward(layer, shape):
    """The block of a `FeedForward`."""
    title = f"Feed Forward ({layer.d_model:,} → {layer.dff:,} → {layer.d_model:,})"
    return Block("feed_forward", title, layer.compute_output_shape(shape), layer.count_params())


def with_norm(sublayer, residual):
    """A sublayer's block and that of its `AddAndNorm`, in the order of their computation."""
    if residual.norm_first:
        return [Block("norm", "Layer Norm", sublayer.shape, residual.count_params()), sublayer]
    return [sublayer, Block("norm", "Add & Norm", sublayer.shape, residual.count_params())]


def final_norm(stack, shape):
    """The block of the norm after a pre-norm `Encoder` or `Decoder`; None after a post-norm one, which has none."""
    return Block("norm", "Layer Norm", shape, stack.norm.count_params()) if stack.norm else None
