"""Building blocks of the Transformer (section 3) as Keras layers, written in `keras.ops` only."""
