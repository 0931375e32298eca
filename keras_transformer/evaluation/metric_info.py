"""Metadata of the scores: their order, number format, direction and description."""

from typing import NamedTuple


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


LEGEND = {
    "bits_per_char": Entry("{:.3f}", "less", "bits per character of the corpus's answers; fewer are better"),
    "loss": Entry("{:.3f}", "less", "the same in nats per token"),
    "perplexity": Entry("{:.2f}", "less", "the same as the number of equally likely tokens"),
    "chrf": Entry("{:.1f}", "more", "character n-grams that answers and corpus share, 0 to 100"),
    "bleu": Entry("{:.1f}", "more", "runs of up to four characters (tok:char) or words (tok:13a), 0 to 100"),
    "exact_match": Entry("{:.1%}", "more", "answers that stand so in the corpus"),
    "word_error_rate": Entry("{:.1%}", "less", "words to change to reach the corpus's answer"),
    "copied": Entry("{:.1%}", "", "answers that stand so in the training part"),
    "distinct_1": Entry("{:.1%}", "", "words that are different ones"),
    "distinct_2": Entry("{:.1%}", "", "pairs of words that are different ones"),
    "answer_length": Entry("{:.1f}", "", "characters of an answer"),
}
