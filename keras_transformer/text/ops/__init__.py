"""The steps of a tokenizer in core TensorFlow operations: see `core_ops.py`."""
