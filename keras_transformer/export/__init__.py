"""Exports a trained run to other formats. An exported folder does not need this package."""

FORMATS = ("saved_model", "litert", "onnx", "ctranslate2", "run")
"""Export formats. Each has a module that writes and loads it."""

QUANTIZATIONS = ("float32", "bfloat16", "int8")
"""Weight types. Each format's module lists the ones that it supports."""

EXACT = "float32"  # The weights as trained. The other types round them.

TOKENIZER_OPS = ("core", "tensorflow_text")
"""Tokenizer operations of a SavedModel: core TensorFlow, or tensorflow-text."""
