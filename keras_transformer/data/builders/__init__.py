"""Corpora as tensorflow-datasets builders, one folder for each, as `tfds build` wants them."""
