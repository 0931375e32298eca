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
    vocab_size: int, num_layers: int, dff: int, d_model: int, num_heads: int, dropout: float, name: str = "transformer",
    *, target_vocab_size: int | None = None, tie_embeddings: bool = False, norm_first: bool = False,
) -> keras.Model:  # fmt: skip
    """Creates the Transformer: maps a question and the answer so far to the logits of each next token.

    Args:
        vocab_size: Size of the vocabulary. Token id 0 is padding.
        num_layers: Number of encoder layers and of decoder layers (N).
        dff: Inner width of the feed-forward networks.
        d_model: Width of the output of every layer.
        num_heads: Number of attention heads (h).
        dropout: Dropout rate (P_drop).
        name: Name of the model.
        target_vocab_size: Size of the target vocabulary. None if source and target share one vocabulary.
        tie_embeddings: Whether the source embedding, the target embedding and the output projection share one matrix
            (section 3.4). With a separate target vocabulary, only the last two do.
        norm_first: Whether to normalize each sublayer's input (pre-norm, with a final norm after each stack; Xiong et
            al. 2020) instead of its output (post-norm, section 3.1).

    Returns:
        A functional `keras.Model`. Inputs: "inputs" (batch, length) and "dec_inputs" (batch, answer length), int32, as
        a dictionary or as a list in this order. Output: logits of shape (batch, answer length, target vocabulary size),
        without softmax.
    """
    inputs = keras.Input((None,), dtype="int32", name="inputs")
    dec_inputs = keras.Input((None,), dtype="int32", name="dec_inputs")
    padding_mask = PaddingMask(name="padding_mask")(inputs)
    look_ahead_mask = LookAheadMask(name="look_ahead_mask")(dec_inputs)
    sizes = (num_layers, dff, d_model, num_heads, dropout, norm_first)
    components = make_components(vocab_size, target_vocab_size, d_model, sizes, tie_embeddings)
    memory = components.encoder(components.embed_source(inputs), padding_mask)
    outputs = components.decoder(components.embed_target(dec_inputs), memory, look_ahead_mask, padding_mask)
    return keras.Model([inputs, dec_inputs], components.project(outputs), name=name)


@dataclasses.dataclass(frozen=True)
class TransformerComponents:
    """The components of a Transformer, which can be called separately."""

    embed_source: typing.Callable
    encoder: Encoder
    embed_target: typing.Callable
    decoder: Decoder
    project: typing.Callable

    @classmethod
    def tied(cls, source, encoder, target, decoder):
        """Returns the components of a model that shares the target embedding with the output projection."""
        return cls(source, encoder, target, decoder, lambda x: target(x, reverse=True))


def make_components(vocab_size, target_vocab_size, d_model, sizes, tie_embeddings):
    """Creates new `TransformerComponents`. `sizes` are the arguments of `Encoder` and `Decoder`."""
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
    """Returns the `TransformerComponents` of a model created by `transformer()`, or of one loaded from a file.

    Raises:
        ValueError: If the model lacks one of the layers.
    """
    layers = {layer.name: layer for layer in model.layers}
    try:
        source = layers["embedding" if "embedding" in layers else "source_embedding"]
        target = layers["embedding" if "embedding" in layers else "target_embedding"]
        components = source, layers["encoder"], target, layers["decoder"]
        return (
            TransformerComponents(*components, layers["outputs"])
            if "outputs" in layers
            else TransformerComponents.tied(*components)
        )
    except KeyError as error:
        raise ValueError(f"{model.name} has no layer {error}: pass a model created by transformer()") from error
