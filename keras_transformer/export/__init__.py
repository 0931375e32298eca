"""A trained run in the formats of other programs, each a folder that needs nothing of this package."""

FORMATS = ("saved_model", "litert", "onnx", "ctranslate2", "run")
"""Each a module that writes and reopens it."""

QUANTIZATIONS = ("float32", "bfloat16", "int8")
"""Types of the weights; which of them a format has, it says itself."""

EXACT = "float32"  # Weights as they were trained; others are rounded.

TOKENIZER_OPS = ("core", "tensorflow_text")
"""Whose operations cut the text in a SavedModel: TensorFlow's own, or those of tensorflow-text."""
