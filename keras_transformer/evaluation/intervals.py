"""How far a score may be off because other questions could have been asked: bootstrap intervals."""

import numpy as np

RESAMPLES, SEED = 1000, 0
BOUNDS = (2.5, 97.5)  # Per cent: what lies between is 95 % of the resamples.


def intervals(scores):
    """95 % intervals by drawing as many questions anew, with replacement, 1,000 times, the same for all scores.

    What the questions add is summed anew each time; no answer is scored twice.

    Args:
        scores: Dictionary from names to `Score`s of the same questions.

    Returns:
        A dictionary from the names to pairs of bounds.
    """
    [questions] = {len(score.addends) for score in scores.values()}
    random, values = np.random.default_rng(SEED), {name: [] for name in scores}
    for _ in range(RESAMPLES):
        times = np.bincount(random.integers(questions, size=questions), minlength=questions)
        for name, score in scores.items():
            values[name].append(score.of(times @ score.addends))
    return {name: tuple(np.percentile(found, BOUNDS).tolist()) for name, found in values.items()}
