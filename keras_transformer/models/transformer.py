"""The Transformer (section 3, Figure 1): encoder, decoder, and the projection to the vocabulary."""

import keras

from keras_transformer.layers.masks import LookAheadMask, PaddingMask
from keras_transformer.models.decoder import Decoder
from keras_transformer.models.encoder import Encoder


def transformer(vocab_size, num_layers, dff, d_model, num_heads, dropout, name="transformer"):
    """The whole model: a question and the answer so far in, logits of each next token out.

    Args:
        vocab_size: Number of token ids; 0 is padding.
        num_layers: Encoder layers, and as many decoder layers (N).
        dff: Inner width of the feed-forward networks.
        d_model: Width of every layer's output.
        num_heads: Attention heads (h).
        dropout: Dropout rate (P_drop).
        name: Name of the model.

    Returns:
        A functional `keras.Model`. Inputs: "inputs" (batch, length) and "dec_inputs" (batch, answer length), int32, as
        a dictionary, or as a list in this order. Output: logits (batch, answer length, vocab_size), without softmax.
    """
    inputs = keras.Input((None,), dtype="int32", name="inputs")
    dec_inputs = keras.Input((None,), dtype="int32", name="dec_inputs")
    padding_mask = PaddingMask(name="padding_mask")(inputs)
    look_ahead_mask = LookAheadMask(name="look_ahead_mask")(dec_inputs)
    sizes = (vocab_size, num_layers, dff, d_model, num_heads, dropout)
    memory = Encoder(*sizes, name="encoder")(inputs, padding_mask)
    outputs = Decoder(*sizes, name="decoder")(dec_inputs, memory, look_ahead_mask, padding_mask)
    logits = keras.layers.Dense(vocab_size, name="outputs")(outputs)
    return keras.Model([inputs, dec_inputs], logits, name=name)
