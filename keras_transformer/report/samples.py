"""Which answers a report shows: some drawn at random, which flatter nobody, and the worst of all."""

import dataclasses

import numpy as np

DRAWN, WORST, SEED = 10, 5, 0


@dataclasses.dataclass(frozen=True)
class Sample:
    """A question and what was answered.

    Attributes:
        question: The question.
        references: Its different answers in the corpus.
        answer: The run's own.
        chrf: What the run's own is worth by itself.
    """

    question: str
    references: list
    answer: str
    chrf: float


def samples(found):
    """Those that a report shows of an `Evaluation`.

    Returns:
        A list of those drawn, the same whatever the run answers, in the order of the corpus; and one of the worst of
        the others by chrF, the worst first.
    """
    order = np.random.default_rng(SEED).permutation(len(found.asked)).tolist()
    questions, score = list(found.asked), found.scores["chrf"]

    def sample(row):
        references = list(dict.fromkeys(found.asked[questions[row]]))
        return Sample(questions[row], references, found.answers[row], float(score.of(score.addends[row])))

    others = sorted(map(sample, sorted(order[DRAWN:])), key=lambda one: one.chrf)
    return [sample(row) for row in sorted(order[:DRAWN])], others[:WORST]
