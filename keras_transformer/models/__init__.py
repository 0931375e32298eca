"""The encoder, the decoder and the whole Transformer, assembled from `keras_transformer.layers`."""
