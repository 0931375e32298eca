"""Detects the kind of a corpus: pairs to memorize, answers derived from questions by a rule, or single words."""

import collections
import dataclasses
import functools
import re

import numpy as np

from keras_transformer.config import SHARED
from keras_transformer.data.quality.text_issues import script
from keras_transformer.language import translatable, translate_count
from keras_transformer.language import translate as _

CHAT, TRANSLATION, WORDS = translatable("chat"), translatable("translation"), translatable("words")

LEAST_WORDS = 100  # Minimum number of distinct pairs of single words, so that some can be held out.
MOSTLY = 0.95  # Minimum share of questions that are single words.
LEAST_PAIRS = 1000  # Minimum number of distinct pairs for a rule.
CORRELATION = 0.6  # Minimum correlation of the log lengths of questions and answers for a rule.
DIFFERENT_ANSWERS = 0.5  # Minimum share of distinct answers for a rule; a chat repeats its answers.
CLOSED = 0.995  # Closed vocabulary: minimum share of the words of a held-out tenth that occur in the training.
CLOSED_WORDS = 2000  # Closed vocabulary: maximum number of distinct words.
PAIRS_PER_WORD = 5  # Closed vocabulary: minimum number of distinct pairs per distinct word.
WORDS_PER_QUESTION = 2  # Closed vocabulary: minimum average number of words per question.
CLOSED_ANSWERS = 0.1  # Like `DIFFERENT_ANSWERS`, for a closed vocabulary.
NUMBERS = 0.9  # Minimum share of numbers among the distinct words, if the vocabulary is not closed.

NUMBER = re.compile(r"\W*\d[\d\W]*")


@dataclasses.dataclass(frozen=True)
class Kind:
    """The kind of a corpus and its tokenization.

    Attributes:
        name: `CHAT`, `TRANSLATION` or `WORDS`.
        reason: The reason, a short clause.
        tokenizer: Tokenization of the questions, as in `Config`.
        target_tokenizer: Tokenization of the answers, as in `Config`.
        closed: Whether the vocabulary is closed: new questions contain no new words.
    """

    name: str
    reason: str
    tokenizer: str = "sentencepiece"
    target_tokenizer: str = SHARED
    closed: bool = False


def find_kind(sample, pairs):
    """Returns the `Kind` of a corpus.

    Args:
        sample: DataFrame of a sample of training pairs.
        pairs: Number of all training pairs.
    """
    counted = translate_count("{count:,} pair", "{count:,} pairs", pairs)
    sample = sample.drop_duplicates(["question", "answer"])
    questions, answers = list(sample["question"]), list(sample["answer"])
    if len(sample) >= LEAST_WORDS and are_words(questions):
        if are_words(answers):
            return Kind(
                WORDS,
                _("the questions and answers are single words ({counted})", counted=counted),
                "character",
                "character",
            )
        if is_closed(answers):
            return Kind(WORDS, _("the questions are single words ({counted})", counted=counted), "character", "word")
    if len(sample) < LEAST_PAIRS:
        return Kind(CHAT, _("question–answer pairs to memorize ({counted})", counted=counted))
    return (
        closed_kind(questions, answers, counted)
        or numbers_kind(questions, answers, counted)
        or kind_by_lengths(sample, counted)
    )


def closed_kind(questions, answers, counted):
    """Returns the `Kind` of a corpus with a closed vocabulary of words separated by spaces; else None."""
    words = count_words([*questions, *answers])
    if len(words) > CLOSED_WORDS or len(words) * PAIRS_PER_WORD > len(questions):
        return None
    several = count_words(questions).total() >= WORDS_PER_QUESTION * len(questions)
    if not several or not is_closed(questions) or not is_closed(answers):
        return None
    if share_of_numbers(words) > 0.5:
        return Kind(
            TRANSLATION,
            _("answers made by a rule ({counted}, mostly numbers)", counted=counted),
            "character",
            closed=True,
        )
    if len(set(answers)) < CLOSED_ANSWERS * len(answers):
        return None
    return Kind(
        TRANSLATION,
        _("answers made by a rule ({counted} of {words:,} words)", counted=counted, words=len(words)),
        "word",
        closed=True,
    )


def numbers_kind(questions, answers, counted):
    """Returns the `Kind` of a corpus that consists mostly of numbers, such as sums of large numbers; else None."""
    if min(share_of_numbers(count_words(texts)) for texts in (questions, answers)) < NUMBERS:
        return None
    return Kind(
        TRANSLATION, _("answers made by a rule ({counted}, mostly numbers)", counted=counted), "character", closed=True
    )


def kind_by_lengths(sample, counted):
    """Returns the kind `TRANSLATION` if longer questions have longer answers, else `CHAT`."""
    if correlation_of_lengths(sample) < CORRELATION:
        return Kind(
            CHAT,
            _(
                "question–answer pairs to memorize ({counted}, lengths of questions and answers unrelated)",
                counted=counted,
            ),
        )
    if sample["answer"].nunique() < DIFFERENT_ANSWERS * len(sample):
        return Kind(
            CHAT, _("question–answer pairs to memorize ({counted}, many with the same answers)", counted=counted)
        )
    return Kind(
        TRANSLATION,
        _(
            "answers derived from the questions ({counted}, the longer the question, the longer the answer)",
            counted=counted,
        ),
    )


def correlation_of_lengths(sample):
    """Returns Pearson's correlation of the log lengths of questions and answers in characters.

    It is computed within each script, because in a corpus of English and Korean the language alone affects lengths.
    """
    lengths = sample[["question", "answer"]].apply(lambda texts: np.log(texts.str.len()))
    scripts = sample["question"].map(first_script).fillna("")
    lengths -= lengths.groupby(scripts).transform("mean")
    (question, crossed), (_, answer) = lengths.cov(ddof=0).to_numpy()
    return float(crossed / np.sqrt(question * answer)) if min(question, answer) > 1e-12 else 0.0


def first_script(text):
    """Returns the script of the first letter in a text, or None."""
    return next(filter(None, map(_script, text)), None)


_script = functools.lru_cache(maxsize=100_000)(script)


def are_words(texts):
    """Returns whether nearly all texts are single words."""
    return sum(len(text.split()) == 1 for text in texts) >= MOSTLY * len(texts)


def is_closed(texts):
    """Returns whether nearly all words in a tenth of the texts occur in the other texts."""
    order = np.random.default_rng(0).permutation(len(texts))
    held_out, training = (count_words([texts[i] for i in part]) for part in np.split(order, [len(texts) // 10]))
    covered = sum(count for word, count in held_out.items() if word in training)
    return bool(held_out) and covered >= CLOSED * held_out.total()


def count_words(texts):
    """Returns a `Counter` of the words in texts."""
    return collections.Counter(word for text in texts for word in text.split())


def share_of_numbers(words):
    """Returns the share of numbers among distinct words."""
    return sum(NUMBER.fullmatch(word) is not None for word in words) / max(1, len(words))
