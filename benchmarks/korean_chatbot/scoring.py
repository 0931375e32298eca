"""What the systems' answers are worth, all of them scored by the same functions as `keras-transformer evaluate`."""

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
    """A system and what its answers are worth.

    Attributes:
        name: What tables call it.
        answers: Its `Answers`, those of each seed.
        scores: `Score`s by their names, the answers of all seeds taken together; bits per character of those systems
            alone that know likelihoods.
        each: The values of each seed by the scores' names.
    """

    name: str
    answers: list
    scores: dict
    each: dict

    @functools.cached_property
    def intervals(self):
        """95 % bounds of the scores by their names: other questions might have been asked, of the same seeds."""
        return intervals(self.scores)

    def value(self, name):
        """A score, or None."""
        return self.scores[name].value if name in self.scores else None

    def distinct(self, n):
        """The share of different runs of `n` words, in the mean of the seeds."""
        return statistics.fmean(distinct(answers.texts, n) for answers in self.answers)


def scored(name, answers, exam):
    """The `Scored` of a system.

    Args:
        name: What tables call it.
        answers: Its `Answers` for each seed.
        exam: The `Exam` that they answer.
    """
    by_seed = [scores_of_one(one, exam) for one in answers]
    together = {key: pooled([found[key] for found in by_seed]) for key in by_seed[0]}
    each = {key: [found[key].value for found in by_seed] for key in by_seed[0]}
    return Scored(name, answers, together, each)


def scores_of_one(answers, exam):
    """The `Score`s of one seed's answers by their names."""
    found = scores_of(answers.texts, exam.references, exam.train["answer"])
    if answers.bits is not None:
        found[BITS] = Score(np.stack([answers.bits, answers.characters], axis=1), ratio)
    return found


def pooled(scores):
    """One score of the answers of several seeds, as if all were given in one exam."""
    return dataclasses.replace(scores[0], addends=sum(score.addends for score in scores))


def difference(mine, other, name):
    """How much a score of one system is above another's, with its 95 % bounds.

    Both are scored on the same questions at every draw, so that what is hard for both does not count.

    Returns:
        The difference, and a pair of bounds.
    """
    first, second = mine.scores[name], other.scores[name]
    columns = first.addends.shape[1]
    both = Score(
        np.hstack([first.addends, second.addends]),
        lambda total: first.of(total[:columns]) - second.of(total[columns:]),
    )
    return both.value, intervals({name: both})[name]


def best_of(systems, name):
    """The system with the best value of a score, of those that have one; None if none has."""
    found = [system for system in systems if name in system.scores]
    if not found:
        return None
    return (min if name == BITS else max)(found, key=lambda system: system.value(name))
