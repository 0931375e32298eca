"""The scores of the systems' answers, computed by the same functions as `keras-transformer evaluate`."""

import dataclasses
import functools
import statistics

import numpy as np

from keras_transformer.evaluation.bootstrap import intervals
from keras_transformer.evaluation.evaluate import scores_of
from keras_transformer.evaluation.text_metrics import Score, distinct, ratio

BITS = "bits_per_char"


@dataclasses.dataclass(frozen=True, eq=False)
class Scored:
    """A system with its scores.

    Attributes:
        name: The name in tables.
        answers: Its `Answers`, one per seed.
        scores: Dictionary from names to `Score`s over the answers of all seeds. Bits per character are included only
            for systems with likelihoods.
        each: Dictionary from the names of scores to the values of each seed.
    """

    name: str
    answers: list
    scores: dict
    each: dict

    @functools.cached_property
    def intervals(self):
        """The 95 % bounds of the scores by name. They reflect the choice of questions, not of seeds."""
        return intervals(self.scores)

    def value(self, name):
        """Returns the value of a score; None if the system does not have it."""
        return self.scores[name].value if name in self.scores else None

    def distinct(self, n):
        """Returns the share of distinct word n-grams, averaged over the seeds."""
        return statistics.fmean(distinct(answers.texts, n) for answers in self.answers)


def scored(name, answers, exam):
    """Returns the `Scored` of a system.

    Args:
        name: The name in tables.
        answers: Its `Answers`, one per seed.
        exam: The `Exam`.
    """
    by_seed = [scores_of_one(one, exam) for one in answers]
    together = {key: pooled([found[key] for found in by_seed]) for key in by_seed[0]}
    each = {key: [found[key].value for found in by_seed] for key in by_seed[0]}
    return Scored(name, answers, together, each)


def scores_of_one(answers, exam):
    """Returns a dictionary of the `Score`s of one seed's answers."""
    found = scores_of(answers.texts, exam.references, exam.train["answer"])
    if answers.bits is not None:
        found[BITS] = Score(np.stack([answers.bits, answers.characters], axis=1), ratio)
    return found


def pooled(scores):
    """Returns one `Score` over the answers of several seeds, as if they were given in one exam."""
    return dataclasses.replace(scores[0], addends=sum(score.addends for score in scores))


def difference(mine, other, name):
    """Returns the difference of a score between two systems, with its 95 % bounds.

    Both systems are scored on the same resamples of the questions, so that the difficulty of the questions cancels out.

    Returns:
        The difference, and a pair of its bounds.
    """
    first, second = mine.scores[name], other.scores[name]
    columns = first.addends.shape[1]
    both = Score(
        np.hstack([first.addends, second.addends]),
        lambda total: first.of(total[:columns]) - second.of(total[columns:]),
    )
    return both.value, intervals({name: both})[name]


def best_of(systems, name):
    """Returns the system with the best value of a score; None if no system has this score."""
    found = [system for system in systems if name in system.scores]
    if not found:
        return None
    return (min if name == BITS else max)(found, key=lambda system: system.value(name))
