"""Named presets of `Config`."""

from keras_transformer.config import SHARED, Config
from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _

PRESETS = {
    "demo": Config(
        vocab_size=3000, num_layers=2, d_model=128, num_heads=4, dff=256, batch_size=32, epochs=36, patience=0,
        warmup_steps=1600, max_length=48,
    ),
    "characters": Config(
        vocab_size=1000, tokenizer="character", target_tokenizer="character", num_layers=4, d_model=128, num_heads=4,
        dff=512, tie_embeddings=True, dropout=0.3, label_smoothing=0.1, batch_size=128, schedule="cosine",
        warmup_steps=500, clip_norm=1.0, epochs=180, patience=0, monitor="val_accuracy",
    ),
    "tutorial": Config(epochs=50, patience=0, monitor="accuracy", warmup_steps=4000),
    "small": Config(),
    "base": Config(
        vocab_size=37000, num_layers=6, d_model=512, num_heads=8, dff=2048, tie_embeddings=True, label_smoothing=0.1,
        epochs=100, patience=5, warmup_steps=4000, max_length=128,
    ),
    "big": Config(
        vocab_size=37000, num_layers=6, d_model=1024, num_heads=16, dff=4096, tie_embeddings=True, dropout=0.3,
        label_smoothing=0.1, epochs=100, patience=5, warmup_steps=4000, max_length=128,
    ),
}  # fmt: skip
"""Presets by name."""

PURPOSES = {
    "demo": translatable("the demonstration corpus of small talk, in minutes on a laptop"),
    "characters": translatable("words mapped to others letter by letter, such as their pronunciation"),
    "tutorial": translatable("repeating the TensorFlow tutorial: its sizes and epochs, without early stopping"),
    "small": translatable("up to ten million tokens of text, on a laptop: the tutorial's sizes, with early stopping"),
    "base": translatable("from ten million tokens of text on, on a GPU: the base model of the paper (Table 3)"),
    "big": translatable("from 200 million tokens of text on, on GPUs: the big model of the paper (Table 3)"),
}
"""What each preset is for."""


def preset(name: str) -> Config:
    """Returns the preset with the given name; raises `InputError` if there is none."""
    if name not in PRESETS:
        raise InputError(_("no preset named {name!r}; there are {names}", name=name, names=", ".join(PRESETS)))
    return PRESETS[name]


def count_parameters(config):
    """Returns the number of trainable parameters of a model whose vocabularies are full (`vocab_size` ids each)."""
    d_model, dff, vocab_size = config.d_model, config.dff, config.vocab_size
    attention = 4 * (d_model * d_model + d_model)  # W^Q, W^K, W^V and W^O of all heads, with biases (section 3.2.2).
    feed_forward = 2 * d_model * dff + dff + d_model  # Section 3.3.
    norm = 2 * d_model
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    table, shared = vocab_size * d_model, config.target_tokenizer == SHARED
    tables = (table if shared else 2 * table) if config.tie_embeddings else 3 * table + vocab_size  # Section 3.4.
    final_norms = 2 * norm if config.norm_first else 0
    return config.num_layers * (encoder_layer + decoder_layer) + final_norms + tables


def training_bytes(config):
    """Estimates the memory that training needs for the parameters, in bytes.

    For each parameter it counts 32 bits for the weight, the gradient, each of Adam's two moments, the moving average
    and, with gradient accumulation, the accumulated gradient. It excludes what grows with the batch (activations,
    logits) and TensorFlow itself.
    """
    copies = 6 if config.accumulate > 1 else 5
    return 4 * copies * count_parameters(config)
