"""Settings to start from, by name."""

from keras_transformer.config import Config
from keras_transformer.errors import InputError

PRESETS = {
    "demo": Config(
        vocab_size=3000, num_layers=2, d_model=128, num_heads=4, dff=256, batch_size=32, epochs=36, patience=0,
        warmup_steps=1600, max_length=48,
    ),
    "tutorial": Config(),
    "base": Config(
        vocab_size=37000, num_layers=6, d_model=512, num_heads=8, dff=2048, tie_embeddings=True, label_smoothing=0.1,
        epochs=100, max_length=128,
    ),
    "big": Config(
        vocab_size=37000, num_layers=6, d_model=1024, num_heads=16, dff=4096, tie_embeddings=True, dropout=0.3,
        label_smoothing=0.1, epochs=100, max_length=128,
    ),
}  # fmt: skip
"""The demonstration corpus, the tutorial's sizes, and the paper's base and big (Table 3)."""


def preset(name):
    """The preset of that name; raises `InputError` naming those there are."""
    if name not in PRESETS:
        raise InputError(f"no preset named {name!r}; there are {', '.join(PRESETS)}")
    return PRESETS[name]
