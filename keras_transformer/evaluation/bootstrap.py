"""Bootstrap confidence intervals: the sampling uncertainty of scores over questions."""

import numpy as np

RESAMPLES, SEED = 1000, 0
BOUNDS = (2.5, 97.5)  # Percentiles: 95 % of the resamples lie between them.


def intervals(scores):
    """Returns 95 % confidence intervals by bootstrap resampling: 1,000 resamples of the questions, with replacement.

    All scores share the resamples. Only the addends of the questions are summed again; no answer is scored again.

    Args:
        scores: Dictionary from names to `Score`s of the same questions.

    Returns:
        A dictionary from the names to pairs of a lower and an upper bound.
    """
    return {name: bounds(values) for name, values in resampled(scores).items()}


def difference(score, baseline):
    """Returns the difference of a `Score` from a baseline on the same questions, with its 95 % confidence interval.

    Both are computed from the same resamples, so that the difficulty of the questions cancels out: paired bootstrap
    resampling (Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation"), two-sided.

    Args:
        score: The `Score`.
        baseline: The `Score` of the baseline.

    Returns:
        The difference, and a pair of its lower and upper bound.
    """
    values = resampled({"score": score, "baseline": baseline})
    return score.value - baseline.value, bounds(values["score"] - values["baseline"])


def resampled(scores):
    """Returns the values of `Score`s of the same questions for each resample, a dictionary of arrays (1000,)."""
    [questions] = {len(score.addends) for score in scores.values()}
    random, values = np.random.default_rng(SEED), {name: [] for name in scores}
    for _ in range(RESAMPLES):
        counts = np.bincount(random.integers(questions, size=questions), minlength=questions)
        for name, score in scores.items():
            values[name].append(score.of(counts @ score.addends))
    return {name: np.array(samples) for name, samples in values.items()}


def bounds(values):
    """Returns the bounds between which 95 % of the values lie."""
    return tuple(np.percentile(values, BOUNDS).tolist())
