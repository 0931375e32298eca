"""Metadata of the scores: their order, number format, direction and description."""

from typing import NamedTuple

from keras_transformer.language import translatable


class Entry(NamedTuple):
    """The metadata of a score.

    Attributes:
        form: Format string of its value.
        better: Whether "less" or "more" is better; "" for neither.
        about: Its description.
    """

    form: str
    better: str
    about: str


LESS, MORE = translatable("less"), translatable("more")

LEGEND = {
    "bits_per_char": Entry("{:.3f}", LESS, "bits per character of the reference answers; lower is better"),
    "loss": Entry("{:.3f}", LESS, "cross-entropy in nats per token"),
    "perplexity": Entry("{:.2f}", LESS, "exponential of the loss"),
    "chrf": Entry("{:.1f}", MORE, "character n-gram F-score, 0 to 100"),
    "bleu": Entry("{:.1f}", MORE, "n-gram precision of characters (tok:char) or words (tok:13a), 0 to 100"),
    "exact_match": Entry("{:.1%}", MORE, "answers equal to a reference answer"),
    "word_error_rate": Entry("{:.1%}", LESS, "word edits to the nearest reference, per word"),
    "copied": Entry("{:.1%}", "", "answers copied from the training data"),
    "distinct_1": Entry("{:.1%}", "", "distinct words"),
    "distinct_2": Entry("{:.1%}", "", "distinct word pairs"),
    "answer_length": Entry("{:.1f}", "", "mean characters per answer"),
}
