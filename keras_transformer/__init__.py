"""The Transformer of "Attention Is All You Need" in Keras: train it, understand it, talk to it.

All public names are available here. They are imported lazily on first use, which keeps importing the package fast.
Editors and type checkers find them in `__init__.pyi`.
"""

import importlib

from keras_transformer.backend.tensorflow_import import silent_tensorflow

__version__ = "0.1.0"

_MODULES = {
    "chat.attention_trace": ["AttentionTrace", "trace_attention"],
    "chat.chatbot": ["Chatbot"],
    "chat.confidence": ["Confidence", "Fallback"],
    "config": ["Config"],
    "data.catalog": ["corpora", "corpus_pairs", "download_corpus", "load_corpus"],
    "data.corpus": ["load_pairs"],
    "data.loading": ["CorpusWarning"],
    "data.dataset": ["make_dataset"],
    "data.split": ["split_pairs"],
    "decoding.beam_search": ["Beam"],
    "decoding.config": ["GenerationConfig"],
    "decoding.generate": ["Generation", "generate"],
    "decoding.samplers": ["Greedy", "Sampling"],
    "errors": ["DiskFull", "DownloadFailed", "InputError", "TrainingDiverged", "WorkersLost"],
    "evaluation.calibrate": ["calibrate"],
    "evaluation.compare": ["compare"],
    "evaluation.evaluate": ["evaluate"],
    "export.registry": [
        "export_ctranslate2",
        "export_html",
        "export_hugging_face",
        "export_litert",
        "export_onnx",
        "export_run",
        "export_saved_model",
    ],
    "language": ["use_language"],
    "layers.attention": ["MultiHeadAttention", "scaled_dot_product_attention"],
    "layers.masks": ["create_look_ahead_mask", "create_padding_mask"],
    "layers.positional_encoding": ["PositionalEncoding"],
    "models.decoder": ["decoder", "decoder_layer"],
    "models.encoder": ["encoder", "encoder_layer"],
    "models.packed": ["packed"],
    "models.transformer": ["transformer"],
    "presets": ["PRESETS", "preset"],
    "report.report": ["report_html"],
    "runs.run": ["Run"],
    "text.tokenizer": ["Tokenizer"],
    "training.distributed.cluster": ["join_cluster"],
    "training.checkpoint_averaging": ["average_epochs"],
    "training.losses": ["loss_function"],
    "training.metrics": ["accuracy"],
    "training.distributed.ray_launcher": ["train_on_ray"],
    "training.schedule": ["CustomSchedule"],
    "training.trainer": ["train"],
    "visualize.attention": ["plot_attention"],
    "visualize.attention_html": ["attention_html"],
    "visualize.confidence": ["plot_refusals"],
    "visualize.model": ["plot_model_shape"],
    "visualize.position": ["plot_position_encoding"],
    "visualize.schedule": ["plot_schedule"],
    "visualize.training": ["plot_training"],
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with silent_tensorflow():
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
