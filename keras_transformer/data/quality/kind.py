"""The kind of a corpus: pairs to know by heart, answers made from questions by a rule, or single words."""

import collections
import dataclasses
import functools
import re

import numpy as np

from keras_transformer.config import SHARED
from keras_transformer.data.quality.text_issues import script

CHAT, TRANSLATION, WORDS = "chat", "translation", "words"

LEAST_WORDS = 100  # Different pairs of single words from which on some can be held out.
MOSTLY = 0.95  # Share of the questions that must be single words.
LEAST_PAIRS = 1000  # Different pairs from which on a rule can be found.
CORRELATION = 0.6  # Of the log lengths of questions and answers.
DIFFERENT_ANSWERS = 0.5  # Share of the pairs: a rule makes many different answers, a chat repeats its own.
CLOSED = 0.995  # Share of the words of a held-out tenth that the rest must have.
CLOSED_WORDS = 2000  # Different words of a closed vocabulary, at most.
PAIRS_PER_WORD = 5  # Different pairs for each of them, at least.
WORDS_PER_QUESTION = 2  # Of a closed vocabulary, on average, at least.
CLOSED_ANSWERS = 0.1  # As `DIFFERENT_ANSWERS`, where the vocabulary is closed.
NUMBERS = 0.9  # Share of the different words that must be numbers, if the vocabulary is not closed.

NUMBER = re.compile(r"\W*\d[\d\W]*")


@dataclasses.dataclass(frozen=True)
class Kind:
    """The kind of a corpus, and what its texts are cut into.

    Attributes:
        name: `CHAT`, `TRANSLATION` or `WORDS`.
        reason: Why, a short clause.
        tokenizer: Kind of the tokenizer, as in `Config`.
        target_tokenizer: Kind of that of the answers.
        closed: Whether new questions have no new words.
    """

    name: str
    reason: str
    tokenizer: str = "sentencepiece"
    target_tokenizer: str = SHARED
    closed: bool = False


def find_kind(sample, pairs):
    """The `Kind` of a corpus.

    Args:
        sample: DataFrame of training pairs, some.
        pairs: How many training pairs there are.
    """
    counted = f"{pairs:,} pair{'s' * (pairs != 1)}"
    sample = sample.drop_duplicates(["question", "answer"])
    questions, answers = list(sample["question"]), list(sample["answer"])
    if len(sample) >= LEAST_WORDS and are_words(questions):
        if are_words(answers):
            return Kind(WORDS, f"the questions and answers are single words ({counted})", "character", "character")
        if is_closed(answers):
            return Kind(WORDS, f"the questions are single words ({counted})", "character", "word")
    if len(sample) < LEAST_PAIRS:
        return Kind(CHAT, f"pairs to be known by heart ({counted})")
    return (
        closed_kind(questions, answers, counted)
        or numbers_kind(questions, answers, counted)
        or kind_by_lengths(sample, counted)
    )


def closed_kind(questions, answers, counted):
    """The `Kind` of texts in few different words, separated by spaces; None of others."""
    words = count_words([*questions, *answers])
    if len(words) > CLOSED_WORDS or len(words) * PAIRS_PER_WORD > len(questions):
        return None
    several = count_words(questions).total() >= WORDS_PER_QUESTION * len(questions)
    if not several or not is_closed(questions) or not is_closed(answers):
        return None
    if share_of_numbers(words) > 0.5:
        return Kind(TRANSLATION, f"answers made by a rule ({counted}, mostly numbers)", "character", closed=True)
    if len(set(answers)) < CLOSED_ANSWERS * len(answers):
        return None
    return Kind(TRANSLATION, f"answers made by a rule ({counted} of {len(words):,} words)", "word", closed=True)


def numbers_kind(questions, answers, counted):
    """The `Kind` of texts that are mostly numbers, such as sums of large ones; None of others."""
    if min(share_of_numbers(count_words(texts)) for texts in (questions, answers)) < NUMBERS:
        return None
    return Kind(TRANSLATION, f"answers made by a rule ({counted}, mostly numbers)", "character", closed=True)


def kind_by_lengths(sample, counted):
    """`TRANSLATION` where longer questions have longer answers, else `CHAT`."""
    if correlation_of_lengths(sample) < CORRELATION:
        return Kind(CHAT, f"pairs to be known by heart ({counted}, lengths of questions and answers unrelated)")
    if sample["answer"].nunique() < DIFFERENT_ANSWERS * len(sample):
        return Kind(CHAT, f"pairs to be known by heart ({counted}, many with the same answers)")
    return Kind(TRANSLATION, f"answers made by a rule ({counted}, the longer the question, the longer the answer)")


def correlation_of_lengths(sample):
    """Pearson's correlation of the log lengths of questions and answers in characters.

    It is that within each script, for a corpus of English and Korean has short and long texts by its languages alone.
    """
    lengths = sample[["question", "answer"]].apply(lambda texts: np.log(texts.str.len()))
    scripts = sample["question"].map(first_script).fillna("")
    lengths -= lengths.groupby(scripts).transform("mean")
    (question, crossed), (_, answer) = lengths.cov(ddof=0).to_numpy()
    return float(crossed / np.sqrt(question * answer)) if min(question, answer) > 1e-12 else 0.0


def first_script(text):
    """The script of the first letter of a text; None if it has none."""
    return next(filter(None, map(_script, text)), None)


_script = functools.lru_cache(maxsize=100_000)(script)


def are_words(texts):
    """Whether texts are single words, but for a few."""
    return sum(len(text.split()) == 1 for text in texts) >= MOSTLY * len(texts)


def is_closed(texts):
    """Whether a tenth of the texts has nearly no word that the others lack."""
    order = np.random.default_rng(0).permutation(len(texts))
    held_out, rest = (count_words([texts[i] for i in part]) for part in np.split(order, [len(texts) // 10]))
    known = sum(count for word, count in held_out.items() if word in rest)
    return bool(held_out) and known >= CLOSED * held_out.total()


def count_words(texts):
    """How often each word is in texts, a `Counter`."""
    return collections.Counter(word for text in texts for word in text.split())


def share_of_numbers(words):
    """Share of numbers among different words."""
    return sum(NUMBER.fullmatch(word) is not None for word in words) / max(1, len(words))
