"""Exports a trained run to other formats. An exported folder does not need this package."""

MODULES = {
    "saved_model": "saved_model",
    "litert": "litert",
    "onnx": "onnx",
    "ctranslate2": "ctranslate2",
    "html": "html",
    "run": "run_folder",
    "hf": "hugging_face",
}
"""The module of each export format in this package. Each is an `exporter.Exporter`."""

FORMATS = tuple(MODULES)
"""Export formats."""

QUANTIZATIONS = ("float32", "bfloat16", "int8")
"""Weight types. Each format's module lists the ones that it supports."""

EXACT = "float32"  # The weights as trained. The other types round them.

TOKENIZER_OPS = ("core", "tensorflow_text")
"""Tokenizer operations of a SavedModel: core TensorFlow, or tensorflow-text."""
