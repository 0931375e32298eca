"""The encoder, the decoder and the Transformer, built from `keras_transformer.layers`."""
