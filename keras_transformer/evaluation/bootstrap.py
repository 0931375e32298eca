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
    return {name: bounds(values) for name, values in resampled(scores).items()}


def difference(score, baseline):
    """How much larger a `Score` is than another of the same questions, and the 95 % interval of that.

    Both are computed from the same draws of questions, which have all that is easy or hard for both of them: paired
    bootstrap resampling (Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation"), two-sided.

    Returns:
        The difference and the pair of its bounds.
    """
    values = resampled({"score": score, "baseline": baseline})
    return score.value - baseline.value, bounds(values["score"] - values["baseline"])


def resampled(scores):
    """The values of `Score`s of the same questions for each draw, arrays (1000,) by the names."""
    [questions] = {len(score.addends) for score in scores.values()}
    random, values = np.random.default_rng(SEED), {name: [] for name in scores}
    for _ in range(RESAMPLES):
        times = np.bincount(random.integers(questions, size=questions), minlength=questions)
        for name, score in scores.items():
            values[name].append(score.of(times @ score.addends))
    return {name: np.array(found) for name, found in values.items()}


def bounds(values):
    """The bounds between which 95 % of the values lie."""
    return tuple(np.percentile(values, BOUNDS).tolist())
