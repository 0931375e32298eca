"""Configuration of a run: a frozen dataclass that documents and validates its fields."""

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

PRECISIONS = ("auto", "float32", "bfloat16", "float16")
SCHEDULES = ("paper", "inverse_sqrt", "cosine", "constant")
MONITORS = (
    "loss", "perplexity", "accuracy", "val_loss", "val_perplexity", "val_accuracy", "val_bits_per_char",
)  # fmt: skip
"""Columns of metrics.csv that can select the best epoch."""
TOKENIZERS = ("sentencepiece", "unigram", "bpe", "character", "word")
SHARED = "shared"
LEAST_BATCH_TOKENS = 64
BELOW = 2**63  # The frameworks use integers of 64 bits.


def setting(default, about, least=None, below=math.inf, choices=None):
    """Returns a field of `Config` with its documentation and its limits.

    Args:
        default: Default value; its type is the type of the field.
        about: Description for `--help` and `help(Config)`, with the paper's symbol and section.
        least: Minimum of a number, inclusive.
        below: Maximum of a number, exclusive.
        choices: Allowed values of a string.
    """
    metadata = {"about": about, "least": least, "below": below, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class Config:
    """Model, training and tokenizer settings of a run. The defaults are the preset `small`."""

    vocab_size: int = setting(8192, "Maximum vocabulary size; a small corpus may yield fewer tokens.", 1)
    num_layers: int = setting(2, "Number of encoder layers and of decoder layers (N, section 3.1).", 1)
    d_model: int = setting(256, "Width of the layer outputs (section 3.1).", 1)
    num_heads: int = setting(8, "Number of attention heads (h, section 3.2.2); must divide d_model.", 1)
    dff: int = setting(512, "Inner width of the feed-forward network (d_ff, section 3.3).", 1)
    tie_embeddings: bool = setting(
        False, "Share one matrix between both embeddings and the output projection (section 3.4)."
    )
    norm_first: bool = setting(
        False, "Use pre-norm (Xiong et al. 2020), with a final norm after encoder and decoder, instead of the paper's "
        "post-norm (section 3.1); deep models train more stably."
    )  # fmt: skip
    dropout: float = setting(0.1, "Rate of residual and embedding dropout (P_drop, section 5.4).", 0, below=1)
    label_smoothing: float = setting(
        0.0, "Label smoothing of the training loss (ε_ls, section 5.4; the paper uses 0.1); metrics are computed "
        "without it.", 0, below=1,
    )  # fmt: skip
    hold_out: bool = setting(
        True,
        "Hold out questions for validation (5 %) and for the test split (5 %); without it, a corpus without a "
        "validation split of its own is used whole for training and again for validation, e.g. to memorize a FAQ.",
    )
    augment: int = setting(
        0, "Number of noisy copies of each training pair: missing spaces, other punctuation or endings, typos.", 0
    )
    recombine: int = setting(
        0, "Number of new questions per training question: words of two similar questions, with the answer of the "
        "nearest one.", 0,
    )  # fmt: skip
    batch_size: int = setting(64, "Number of pairs per batch.", 1)
    batch_tokens: int = setting(
        0, "Approximate number of question and answer tokens per batch (section 5.1); replaces batch_size; 0 to "
        "disable.", 0,
    )  # fmt: skip
    accumulate: int = setting(
        1, "Number of batches to accumulate gradients over; the learning rate schedule counts updates.", 1
    )
    clip_norm: float = setting(0.0, "Maximum global norm for gradient clipping; 0 to disable.", 0)
    schedule: str = setting(
        "paper", "Learning rate schedule after the linear warm-up: the paper's formula (section 5.3), or from "
        "learning_rate on 1/√step, a cosine that reaches 0 after the last epoch, or constant.", choices=SCHEDULES,
    )  # fmt: skip
    learning_rate: float = setting(
        0.001, "Peak learning rate; not used by the schedule paper, whose peak is (d_model · warmup_steps)^-0.5.", 1e-12
    )
    warmup_steps: int = setting(500, "Number of warm-up updates of the learning rate (section 5.3).", 1)
    epochs: int = setting(30, "Maximum number of training epochs.", 1)
    patience: int = setting(3, "Number of epochs without improvement before early stopping; 0 to disable.", 0)
    monitor: str = setting(
        "val_bits_per_char", "Column of metrics.csv that selects the best epoch: the highest accuracy, or the lowest "
        "value of any other column.", choices=MONITORS,
    )  # fmt: skip
    keep_epochs: int = setting(
        0, "Number of last epochs whose weights are kept for `keras-transformer average` (section 6.1).", 0
    )
    checkpoint_minutes: float = setting(
        5.0, "Minutes between checkpoints within an epoch; 0 to save only at the end of each epoch.", 0
    )
    max_length: int = setting(
        64, "Maximum number of tokens in a question or an answer, start and end included; longer pairs are left out.", 3
    )
    tokenizer: str = setting(
        "sentencepiece", "Tokenization: SentencePiece unigram (also named unigram), byte-pair encoding, characters, or "
        "words at white space.", choices=TOKENIZERS,
    )  # fmt: skip
    target_tokenizer: str = setting(
        SHARED, "Tokenization of the answers, with a vocabulary of their own; shared to use one tokenizer for both.",
        choices=(SHARED, *TOKENIZERS),
    )  # fmt: skip
    grow_vocabulary: bool = setting(
        False, "Fine-tuning: add pieces to the vocabulary for characters and frequent words of the corpus that it "
        "lacks."
    )  # fmt: skip
    jamo: bool = setting(False, "Decompose Hangul syllables into letters before tokenizing; answers are recomposed.")
    turns: int = setting(
        1, "Maximum number of conversation turns in a question, one per line; above 1, a separator token marks the end "
        "of each turn and the chat keeps the history.", 1,
    )  # fmt: skip
    precision: str = setting(
        "auto", "Precision of matrix products; weights stay float32; auto selects the fastest one of the hardware.",
        choices=PRECISIONS,
    )  # fmt: skip
    seed: int = setting(0, "Random seed of initial weights, dropout and the order of the pairs.", 0, below=2**32)

    def __post_init__(self):
        for name in FIELDS:
            check_setting(name, getattr(self, name))
        if self.d_model % self.num_heads:
            raise InputError(
                _(
                    "d_model {d_model} cannot be split into {num_heads} equal heads",
                    d_model=self.d_model,
                    num_heads=self.num_heads,
                )
            )

    def replace(self, **changes: Any) -> "Config":
        """Returns a validated copy with some settings changed."""
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as a JSON-serializable dictionary."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> "Config":
        """Creates a `Config` from a dictionary; missing settings take their defaults.

        Raises:
            InputError: If a name is unknown or a value is invalid.
        """
        if unknown := sorted(set(settings) - set(FIELDS)):
            raise InputError(
                _(
                    "unknown setting {names}; this version knows {known}",
                    names=", ".join(unknown),
                    known=", ".join(sorted(FIELDS)),
                )
            )
        return cls(**settings)

    def __str__(self):
        return json.dumps(self.to_dict())


FIELDS = {field.name: field for field in dataclasses.fields(Config)}
"""The fields of `Config` by name; `metadata["about"]` describes each."""

Config.__doc__ = f"{Config.__doc__}\n\nAttributes:\n" + "\n".join(
    f"    {name}: {field.metadata['about']}" for name, field in FIELDS.items()
)


def check_setting(name, value):
    """Raises `InputError` if a value is invalid for a setting, regardless of the other settings."""
    kind, limits = FIELDS[name].type, FIELDS[name].metadata
    if isinstance(value, int) and not -BELOW < value < BELOW:
        raise InputError(_("{name}: the number has more than 64 bits", name=name))
    if kind is bool:
        if not isinstance(value, bool):
            raise InputError(_("{name} must be true or false, not {value!r}", name=name, value=value))
    elif kind is str:
        if value not in limits["choices"]:
            raise InputError(
                _(
                    "{name} must be one of {choices}, not {value!r}",
                    name=name,
                    choices=", ".join(limits["choices"]),
                    value=value,
                )
            )
    else:
        check_number(name, value, kind, limits["least"], limits["below"])
    if name == "batch_tokens" and 0 < value < LEAST_BATCH_TOKENS:
        raise InputError(
            _(
                "batch_tokens must be 0 (off) or at least {least_batch_tokens}, not {value}",
                least_batch_tokens=LEAST_BATCH_TOKENS,
                value=value,
            )
        )


def check_number(name, value, kind, least, below):
    """Raises `InputError` unless the value is a finite number of the given type within its limits."""
    number = isinstance(value, (int, kind)) and not isinstance(value, bool) and math.isfinite(value)
    if not number or value < least:
        what = _("a whole number") if kind is int else _("a number")
        raise InputError(
            _(
                "{name} must be {what} of at least {least}, not {value!r}",
                name=name,
                what=what,
                least=least,
                value=value,
            )
        )
    if value >= below:
        raise InputError(_("{name} must be below {below}, not {value}", name=name, below=below, value=value))
