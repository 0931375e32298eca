"""The sample answers of a report: a random sample, to avoid cherry-picking, and the worst answers."""

import dataclasses

import numpy as np

DRAWN, WORST, SEED = 10, 5, 0


@dataclasses.dataclass(frozen=True)
class Sample:
    """A question with its references and the run's answer.

    Attributes:
        question: The question.
        references: Its distinct answers in the corpus, a list.
        answer: The run's answer.
        chrf: The chrF of this answer.
    """

    question: str
    references: list
    answer: str
    chrf: float


def samples(evaluation):
    """Selects the samples of an `Evaluation` for a report.

    Args:
        evaluation: The `Evaluation`.

    Returns:
        Two lists of `Sample`s. The first is drawn at random, independently of the answers, and is in corpus order. The
        second holds the worst of the other samples by chrF, worst first.
    """
    order = np.random.default_rng(SEED).permutation(len(evaluation.references)).tolist()
    questions, score = list(evaluation.references), evaluation.scores["chrf"]

    def sample(row):
        references = list(dict.fromkeys(evaluation.references[questions[row]]))
        return Sample(questions[row], references, evaluation.answers[row], float(score.of(score.addends[row])))

    others = sorted(map(sample, sorted(order[DRAWN:])), key=lambda one: one.chrf)
    return [sample(row) for row in sorted(order[:DRAWN])], others[:WORST]
