"""The pieces of the paper's section 3, each a Keras layer in `keras.ops` alone."""
