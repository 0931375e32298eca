"""Synthetic out-of-domain questions, which a run should refuse."""

import itertools

import numpy as np

from keras_transformer.language import translatable
from keras_transformer.text.normalize import normalize

SYLLABLES = [chr(code) for code in range(ord("가"), ord("힣") + 1)]
LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
SEED = 0
WORDS = 3  # Minimum for mixed words; fewer random words may well form a question.


def make_out_of_domain(questions):
    """Creates out-of-domain questions of several kinds, with the lengths of in-domain questions and a fixed seed.

    Args:
        questions: The in-domain questions, a list of texts.

    Returns:
        A dictionary from the name of each kind to a list of texts: "random Hangul" and "random letters", with the
            spaces of the question kept; "shuffled characters" of each question; "mixed words", drawn from all
            questions. Texts that equal an in-domain question are removed, as are empty kinds.
    """
    random, in_domain = np.random.default_rng(SEED), set(map(normalize, questions))
    words = list(itertools.chain(*map(str.split, questions)))
    texts_by_kind = {
        translatable("random Hangul"): [replace_characters(question, SYLLABLES, random) for question in questions],
        translatable("random letters"): [replace_characters(question, LETTERS, random) for question in questions],
        translatable("shuffled characters"): ["".join(random.permutation(list(question))) for question in questions],
        translatable("mixed words"): [
            " ".join(random.choice(words, len(question.split())))
            for question in questions
            if len(question.split()) >= WORDS
        ],
    }
    texts_by_kind = {
        kind: [text for text in texts if normalize(text) not in in_domain] for kind, texts in texts_by_kind.items()
    }
    return {kind: texts for kind, texts in texts_by_kind.items() if texts}


def replace_characters(question, characters, random):
    """Returns the question with its characters replaced by random ones; spaces are kept."""
    replacements = random.choice(characters, len(question))
    return "".join(old if old.isspace() else new for old, new in zip(question, replacements))


def separation(confidence, out_of_domain):
    """Returns the AUROC of a confidence for separating in-domain from out-of-domain questions.

    Args:
        confidence: The `Confidence`.
        out_of_domain: A pair for each out-of-domain question, as in `Confidence.in_domain`: score, and pieces per
            character.

    Returns:
        The probability that an in-domain question has the higher confidence, with ties counted half: 0.5 is chance, 1
        is perfect.
    """
    return auroc(*(confidence.share(*zip(*numbers)) for numbers in (confidence.in_domain, out_of_domain)))


def auroc(in_domain, out_of_domain):
    """Returns the probability that a value of `in_domain` exceeds one of `out_of_domain`; ties count half.

    Args:
        in_domain: The values of in-domain questions, an array (questions,).
        out_of_domain: The values of out-of-domain questions, an array (questions,).
    """
    below, up_to = (np.searchsorted(np.sort(in_domain), out_of_domain, side=side) for side in ("left", "right"))
    return float(1 - (below + up_to).mean() / (2 * len(in_domain)))
