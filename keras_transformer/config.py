"""What a run is asked to be: one frozen dataclass whose fields document and check themselves."""

import dataclasses
import json
import math

from keras_transformer.errors import InputError

PRECISIONS = ("auto", "float32", "bfloat16", "float16")
SCHEDULES = ("paper", "inverse_sqrt", "cosine", "constant")
MONITORS = (
    "loss", "perplexity", "accuracy", "val_loss", "val_perplexity", "val_accuracy", "val_bits_per_char",
)  # fmt: skip
"""Columns of metrics.csv that tell how good an epoch was."""
TOKENIZERS = ("sentencepiece", "unigram", "bpe", "character", "word")
SHARED = "shared"
LEAST_BATCH_TOKENS = 64


def setting(default, about, least=None, below=math.inf, choices=None):
    """A field of `Config` with what documents and checks it.

    Args:
        default: Its default value, whose type is the field's.
        about: What it means, with the paper's name and section, for `--help` and for `help(Config)`.
        least: The least a number may be.
        below: What a number must be below.
        choices: The words to choose from, if it is one.
    """
    metadata = {"about": about, "least": least, "below": below, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class Config:
    """Sizes, training and text settings of a run; the defaults are the preset `small`."""

    vocab_size: int = setting(8192, "token ids of a tokenizer, at most; a small corpus may yield fewer", 1)
    num_layers: int = setting(2, "encoder layers, and as many decoder layers (N, section 3.1)", 1)
    d_model: int = setting(256, "width of every layer's output (section 3.1)", 1)
    num_heads: int = setting(8, "attention heads (h, section 3.2.2); must divide d_model", 1)
    dff: int = setting(512, "inner width of the feed-forward network (d_ff, section 3.3)", 1)
    tie_embeddings: bool = setting(
        False, "one matrix for the embeddings of questions and answers and the output projection (section 3.4)"
    )
    norm_first: bool = setting(
        False, "normalize the input of each sublayer instead of its output (pre-norm, Xiong et al. 2020), with a final "
        "norm after encoder and decoder; deep models train more stably; the paper has post-norm (section 3.1)"
    )  # fmt: skip
    dropout: float = setting(0.1, "rate of residual and embedding dropout (P_drop, section 5.4)", 0, below=1)
    label_smoothing: float = setting(
        0.0, "share of each training target spread evenly over the vocabulary (ε_ls, section 5.4; the paper: 0.1); "
        "the metrics stay those without it", 0, below=1,
    )  # fmt: skip
    hold_out: bool = setting(
        True,
        "keep 5 % of the questions for validation and 5 % for a test; without, a corpus that has no validation of its "
        "own is trained on whole, and validation repeats it: for a FAQ that is to be known by heart",
    )
    augment: int = setting(
        0, "noisy copies of each training pair: spaces left out, other marks and endings, a letter wrong", 0
    )
    recombine: int = setting(
        0, "new questions for each known one: words of two that are alike, with the answer of the nearest known one", 0
    )
    batch_size: int = setting(64, "pairs in a batch", 1)
    batch_tokens: int = setting(
        0, "tokens in a batch, questions and answers together, about (section 5.1); replaces batch_size; 0 for off", 0
    )
    accumulate: int = setting(
        1, "batches whose gradients are averaged into one update; steps of the learning rate are updates", 1
    )
    clip_norm: float = setting(
        0.0, "longest gradient of an update, as the norm over all weights; a longer one is shortened; 0 for off", 0
    )
    schedule: str = setting(
        "paper", "learning rate after the linear warm-up: by the paper's formula (section 5.3), or from learning_rate "
        "as 1/√step, as a cosine that is 0 after the last epoch, or constant", choices=SCHEDULES,
    )  # fmt: skip
    learning_rate: float = setting(
        0.001, "highest learning rate; no effect in schedule paper, whose peak is (d_model · warmup_steps)^-0.5", 1e-12
    )
    warmup_steps: int = setting(500, "updates over which the learning rate rises (section 5.3)", 1)
    epochs: int = setting(30, "passes over the training pairs, at most", 1)
    patience: int = setting(3, "epochs without a better monitor before training stops; 0 for never", 0)
    monitor: str = setting(
        "val_bits_per_char", "column of metrics.csv that says which epoch is best: by the highest accuracy, or the "
        "lowest of the others", choices=MONITORS,
    )  # fmt: skip
    keep_epochs: int = setting(
        0, "last epochs whose weights are kept, each in its file, for `keras-transformer average` (section 6.1)", 0
    )
    checkpoint_minutes: float = setting(
        5.0, "minutes between checkpoints within an epoch; 0 for the ends of epochs only", 0
    )
    max_length: int = setting(
        64, "tokens in a question or an answer, start and end included; longer pairs are left out", 3
    )
    tokenizer: str = setting(
        "sentencepiece", "how text is cut into tokens: into the likeliest pieces (unigram is another name of it), by "
        "byte-pair encoding, into characters, or into words at white space", choices=TOKENIZERS,
    )  # fmt: skip
    target_tokenizer: str = setting(
        SHARED, "the same of the answers, with token ids of their own; shared for one tokenizer of both",
        choices=(SHARED, *TOKENIZERS),
    )  # fmt: skip
    jamo: bool = setting(False, "cut Hangul syllables into their letters before all else; answers compose them again")
    turns: int = setting(
        1, "turns of a conversation that a question may have, its lines; with more than 1 the model is told where one "
        "ends, and the chat keeps them", 1,
    )  # fmt: skip
    precision: str = setting(
        "auto", "of the matrix products; weights stay float32; auto for the fastest that the hardware has",
        choices=PRECISIONS,
    )  # fmt: skip
    seed: int = setting(0, "seed of initial weights, dropout and order of the pairs", 0, below=2**32)

    def __post_init__(self):
        for name in FIELDS:
            check_setting(name, getattr(self, name))
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
        """The settings from `to_dict`, the default where one is missing; raises `InputError` on an unknown name."""
        if unknown := sorted(set(settings) - set(FIELDS)):
            raise InputError(f"unknown setting {', '.join(unknown)}; this version knows {', '.join(sorted(FIELDS))}")
        return cls(**settings)

    def __str__(self):
        return json.dumps(self.to_dict())


FIELDS = {field.name: field for field in dataclasses.fields(Config)}
"""The fields of `Config` by name; `metadata["about"]` says what one means."""

Config.__doc__ += "\n\nAttributes:\n" + "\n".join(
    f"    {name}: {field.metadata['about'][0].upper()}{field.metadata['about'][1:]}." for name, field in FIELDS.items()
)


def check_setting(name, value):
    """Raises `InputError` if no `Config` can have that value for that setting, whatever its others are."""
    kind, limits = FIELDS[name].type, FIELDS[name].metadata
    if kind is bool:
        if not isinstance(value, bool):
            raise InputError(f"{name} must be true or false, not {value!r}")
    elif kind is str:
        if value not in limits["choices"]:
            raise InputError(f"{name} must be one of {', '.join(limits['choices'])}, not {value!r}")
    else:
        check_number(name, value, kind, limits["least"], limits["below"])
    if name == "batch_tokens" and 0 < value < LEAST_BATCH_TOKENS:
        raise InputError(f"batch_tokens must be 0 (off) or at least {LEAST_BATCH_TOKENS}, not {value}")


def check_number(name, value, kind, least, below):
    """Raises `InputError` unless the value is a number of that kind, finite, within its limits."""
    number = isinstance(value, (int, kind)) and not isinstance(value, bool) and math.isfinite(value)
    if not number or value < least:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"{name} must be {what} of at least {least}, not {value!r}")
    if value >= below:
        raise InputError(f"{name} must be below {below}, not {value}")
