"""Whether a corpus is fit for training: what is in it, what is wrong with it, and how to train on it."""
