"""tensorflow-datasets builders of the corpora, each in its own folder, as required by `tfds build`."""
