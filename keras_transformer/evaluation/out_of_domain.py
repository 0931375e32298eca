"""Questions that nobody can answer, made of those that somebody can: what a run should refuse."""

import itertools

import numpy as np

from keras_transformer.text.normalize import normalize

SYLLABLES = [chr(code) for code in range(ord("가"), ord("힣") + 1)]
LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
SEED = 0
WORDS = 3  # Fewer, drawn from anywhere, may well be a question.


def invented(questions):
    """Foreign questions of several kinds, as long as those that they are made of; the same at every call.

    Args:
        questions: Texts.

    Returns:
        A dictionary from the kinds to texts: "random Hangul" and "random letters", whose spaces stay where they are;
        "shuffled characters" of each question; "mixed words", drawn from all questions. What is a question after all is
        left out, and a kind that is empty too.
    """
    random, own = np.random.default_rng(SEED), set(map(normalize, questions))
    words = list(itertools.chain(*map(str.split, questions)))
    found = {
        "random Hangul": [spelled(question, SYLLABLES, random) for question in questions],
        "random letters": [spelled(question, LETTERS, random) for question in questions],
        "shuffled characters": ["".join(random.permutation(list(question))) for question in questions],
        "mixed words": [
            " ".join(random.choice(words, len(question.split())))
            for question in questions
            if len(question.split()) >= WORDS
        ],
    }
    found = {kind: [text for text in texts if normalize(text) not in own] for kind, texts in found.items()}
    return {kind: texts for kind, texts in found.items() if texts}


def spelled(question, characters, random):
    """The question in other characters, drawn at random."""
    drawn = random.choice(characters, len(question))
    return "".join(old if old.isspace() else new for old, new in zip(question, drawn))


def separation(confidence, foreign):
    """How well a confidence tells foreign questions from those of its calibration: the area under the ROC curve.

    Args:
        confidence: The `Confidence`.
        foreign: What it judges by, a pair for each question.

    Returns:
        The probability that its own kind is given more of it, equals counted half: 0.5 tells nothing, 1 everything.
    """
    own, others = (confidence.share(*zip(*numbers)) for numbers in (confidence.own, foreign))
    return auroc(own, others)


def auroc(own, foreign):
    """The probability that one of some numbers is above one of others, equals counted half; both arrays."""
    below, up_to = (np.searchsorted(np.sort(own), foreign, side=side) for side in ("left", "right"))
    return float(1 - (below + up_to).mean() / (2 * len(own)))
