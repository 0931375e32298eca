"""The Transformer (section 3, Figure 1): embeddings, encoder, decoder, and the projection to the vocabulary."""

import dataclasses
import typing

import keras

from keras_transformer.layers.dense import Dense
from keras_transformer.layers.embedding import TokenEmbedding
from keras_transformer.layers.masks import LookAheadMask, PaddingMask
from keras_transformer.models.decoder import Decoder
from keras_transformer.models.encoder import Encoder


def transformer(
    vocab_size, num_layers, dff, d_model, num_heads, dropout, name="transformer",
    *, target_vocab_size=None, tie_embeddings=False, norm_first=False,
):  # fmt: skip
    """The whole model: a question and the answer so far in, logits of each next token out.

    Args:
        vocab_size: Number of token ids; 0 is padding.
        num_layers: Encoder layers, and as many decoder layers (N).
        dff: Inner width of the feed-forward networks.
        d_model: Width of every layer's output.
        num_heads: Attention heads (h).
        dropout: Dropout rate (P_drop).
        name: Name of the model.
        target_vocab_size: Number of the answers' token ids, if they are others than the questions'; None if the same.
        tie_embeddings: Whether source, target and output projection share one matrix (section 3.4); with token ids of
            their own, target and output projection only.
        norm_first: Whether each sublayer's input is normalized (pre-norm, with a final norm after each stack; Xiong et
            al. 2020) instead of its output (post-norm, section 3.1).

    Returns:
        A functional `keras.Model`. Inputs: "inputs" (batch, length) and "dec_inputs" (batch, answer length), int32, as
        a dictionary, or as a list in this order. Output: logits of the answers' token ids
        (batch, answer length, vocab_size), without softmax.
    """
    inputs = keras.Input((None,), dtype="int32", name="inputs")
    dec_inputs = keras.Input((None,), dtype="int32", name="dec_inputs")
    padding_mask = PaddingMask(name="padding_mask")(inputs)
    look_ahead_mask = LookAheadMask(name="look_ahead_mask")(dec_inputs)
    sizes = (num_layers, dff, d_model, num_heads, dropout, norm_first)
    parts = make_parts(vocab_size, target_vocab_size, d_model, sizes, tie_embeddings)
    memory = parts.encoder(parts.embed_source(inputs), padding_mask)
    outputs = parts.decoder(parts.embed_target(dec_inputs), memory, look_ahead_mask, padding_mask)
    return keras.Model([inputs, dec_inputs], parts.project(outputs), name=name)


@dataclasses.dataclass(frozen=True)
class TransformerComponents:
    """The parts of a Transformer, to be called one by one."""

    embed_source: typing.Callable
    encoder: Encoder
    embed_target: typing.Callable
    decoder: Decoder
    project: typing.Callable

    @classmethod
    def tied(cls, source, encoder, target, decoder):
        """Those of a model in which the target's embedding is the output projection too."""
        return cls(source, encoder, target, decoder, lambda x: target(x, reverse=True))


def make_parts(vocab_size, target_vocab_size, d_model, sizes, tie_embeddings):
    """New `TransformerComponents`; `sizes` are those of encoder and decoder."""
    encoder, decoder = Encoder(*sizes, name="encoder"), Decoder(*sizes, name="decoder")
    if tie_embeddings and target_vocab_size is None:
        embedding = TokenEmbedding(vocab_size, d_model, name="embedding")
        return TransformerComponents.tied(embedding, encoder, embedding, decoder)
    target_vocab_size = target_vocab_size or vocab_size
    source = TokenEmbedding(vocab_size, d_model, name="source_embedding")
    target = TokenEmbedding(target_vocab_size, d_model, name="target_embedding")
    if tie_embeddings:
        return TransformerComponents.tied(source, encoder, target, decoder)
    return TransformerComponents(source, encoder, target, decoder, Dense(target_vocab_size, name="outputs"))


def components_of(model):
    """The `TransformerComponents` of a model made by `transformer()`, or of the same loaded from a file.

    Raises:
        ValueError: If the model has not their layers.
    """
    layers = {layer.name: layer for layer in model.layers}
    try:
        source = layers["embedding" if "embedding" in layers else "source_embedding"]
        target = layers["embedding" if "embedding" in layers else "target_embedding"]
        parts = source, layers["encoder"], target, layers["decoder"]
        return (
            TransformerComponents(*parts, layers["outputs"])
            if "outputs" in layers
            else TransformerComponents.tied(*parts)
        )
    except KeyError as error:
        raise ValueError(f"only a model made by transformer() has these parts; {model.name} has no {error}") from error
