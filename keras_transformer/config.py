"""What a run is asked to be: one frozen dataclass, and the presets to start from."""

import dataclasses
import json

from keras_transformer.errors import InputError

PRECISIONS = ("auto", "float32", "bfloat16", "float16")


@dataclasses.dataclass(frozen=True)
class Config:
    """Sizes, training and text settings of a run; the defaults are the tutorial's sizes.

    Attributes:
        vocab_size: Pieces the tokenizer may have; a small corpus may yield fewer.
        num_layers: Encoder layers, and as many decoder layers (N, section 3.1).
        d_model: Width of every layer's output (section 3.1).
        num_heads: Attention heads (h, section 3.2.2); must divide `d_model`.
        dff: Inner width of the feed-forward network (section 3.3).
        dropout: Rate of residual and embedding dropout (P_drop, section 5.4).
        batch_size: Pairs in a batch.
        epochs: Passes over the training pairs, at most.
        patience: Epochs without a better validation score before training stops; 0 never stops early.
        warmup_steps: Steps over which the learning rate rises (section 5.3).
        max_length: Tokens in a question or an answer, start and end included; longer pairs are not trained on.
        precision: Of the matrix products: "float32", "bfloat16", "float16", or "auto" for the fastest that there is.
        seed: Seed of initial weights, dropout and order of the pairs.
    """

    vocab_size: int = 8192
    num_layers: int = 2
    d_model: int = 256
    num_heads: int = 8
    dff: int = 512
    dropout: float = 0.1
    batch_size: int = 64
    epochs: int = 50
    patience: int = 5
    warmup_steps: int = 4000
    max_length: int = 64
    precision: str = "auto"
    seed: int = 0

    def __post_init__(self):
        if self.precision not in PRECISIONS:
            raise InputError(f"precision must be one of {', '.join(PRECISIONS)}, not {self.precision!r}")
        for field in dataclasses.fields(self):
            if field.type is str:
                continue
            value = getattr(self, field.name)
            least = 0 if field.name in ("dropout", "patience", "seed") else 1
            whole = field.type is int
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or value < least:
                kind = "a whole number" if whole else "a number"
                raise InputError(f"{field.name} must be {kind} of at least {least}, not {value!r}")
        if not self.dropout < 1:
            raise InputError(f"dropout must be below 1, not {self.dropout}")
        if self.seed >= 2**32:
            raise InputError(f"seed must be below {2**32}, not {self.seed}")
        if self.max_length < 3:
            raise InputError(f"max_length must be at least 3 (start, one token, end), not {self.max_length}")
        if self.d_model % self.num_heads:
            raise InputError(f"d_model {self.d_model} cannot be split into {self.num_heads} equal heads")

    def replace(self, **changes):
        """A copy with some settings changed, checked like a new one."""
        return dataclasses.replace(self, **changes)

    def to_dict(self):
        """The settings as a dictionary that JSON can hold."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, settings):
        """The settings from `to_dict`; raises `InputError` on a name that this version does not know."""
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(settings) - known):
            raise InputError(f"unknown setting {', '.join(unknown)}; this version knows {', '.join(sorted(known))}")
        return cls(**settings)

    def __str__(self):
        return json.dumps(self.to_dict())


PRESETS = {
    "demo": Config(
        vocab_size=3000, num_layers=2, d_model=128, num_heads=4, dff=256, batch_size=32, epochs=36, patience=0,
        warmup_steps=1600, max_length=48,
    ),
    "tutorial": Config(),
    "base": Config(
        vocab_size=37000, num_layers=6, d_model=512, num_heads=8, dff=2048, epochs=100, max_length=128,
    ),
    "big": Config(
        vocab_size=37000, num_layers=6, d_model=1024, num_heads=16, dff=4096, dropout=0.3, epochs=100, max_length=128,
    ),
}  # fmt: skip
"""Starting points by name: the demonstration corpus, the tutorial's sizes, and the paper's base and big (Table 3)."""


def preset(name):
    """The preset of that name; raises `InputError` naming those there are."""
    if name not in PRESETS:
        raise InputError(f"no preset named {name!r}; there are {', '.join(PRESETS)}")
    return PRESETS[name]
