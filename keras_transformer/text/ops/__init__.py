"""Tokenization steps as core TensorFlow operations, used by `core_ops.py`."""
