"""Synthetic out-of-domain questions, which a run should refuse."""

import itertools

import numpy as np

from keras_transformer.text.normalize import normalize

SYLLABLES = [chr(code) for code in range(ord("가"), ord("힣") + 1)]
LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
SEED = 0
WORDS = 3  # Minimum for mixed words; fewer random words may well form a question.


def invented(questions):
    """Creates out-of-domain questions of several kinds from in-domain questions of the same lengths, with a fixed seed.

    Args:
        questions: The in-domain questions, a list of texts.

    Returns:
        A dictionary from the name of each kind to a list of texts: "random Hangul" and "random letters", with the
            spaces of the question kept; "shuffled characters" of each question; "mixed words", drawn from all
            questions. Texts that equal an in-domain question are removed, as are empty kinds.
    """
    random, own = np.random.default_rng(SEED), set(map(normalize, questions))
    words = list(itertools.chain(*map(str.split, questions)))
    texts_by_kind = {
        "random Hangul": [spelled(question, SYLLABLES, random) for question in questions],
        "random letters": [spelled(question, LETTERS, random) for question in questions],
        "shuffled characters": ["".join(random.permutation(list(question))) for question in questions],
        "mixed words": [
            " ".join(random.choice(words, len(question.split())))
            for question in questions
            if len(question.split()) >= WORDS
        ],
    }
    texts_by_kind = {
        kind: [text for text in texts if normalize(text) not in own] for kind, texts in texts_by_kind.items()
    }
    return {kind: texts for kind, texts in texts_by_kind.items() if texts}


def spelled(question, characters, random):
    """Returns the question with its characters replaced by random ones; spaces are kept."""
    drawn = random.choice(characters, len(question))
    return "".join(old if old.isspace() else new for old, new in zip(question, drawn))


def separation(confidence, foreign):
    """Returns the AUROC of a confidence for separating in-domain from out-of-domain questions.

    Args:
        confidence: The `Confidence`.
        foreign: The numbers of the out-of-domain questions, a pair for each.

    Returns:
        The probability that an in-domain question has the higher confidence, with ties counted half: 0.5 is chance, 1
        is perfect.
    """
    own, others = (confidence.share(*zip(*numbers)) for numbers in (confidence.own, foreign))
    return auroc(own, others)


def auroc(own, foreign):
    """Returns the probability that a value of `own` exceeds one of `foreign`; ties count half.

    Args:
        own: The values of in-domain questions, an array (questions,).
        foreign: The values of out-of-domain questions, an array (questions,).
    """
    below, up_to = (np.searchsorted(np.sort(own), foreign, side=side) for side in ("left", "right"))
    return float(1 - (below + up_to).mean() / (2 * len(own)))
