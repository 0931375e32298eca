"""Which of several answers to give: functions of lists of candidates alone.

A candidate is a pair of an answer and its log-probability; a neighbour one of a training answer and how near its
question is. Of equals the first is taken.
"""

import functools
import itertools
import math

ORDERS, BETA = range(1, 7), 2  # Of chrF2: runs of 1 to 6 characters, recall being worth twice what precision is.


@functools.lru_cache(maxsize=1 << 16)
def runs(text):
    """For each of `ORDERS` the runs of so many characters in a text, each with how often it stood before: sets."""
    text = "".join(text.split())
    found = []
    for order in ORDERS:
        times = {}
        grams = (text[start : start + order] for start in range(len(text) - order + 1))
        found.append({(gram, next(times.setdefault(gram, itertools.count()))) for gram in grams})
    return found


def similarity(text, other):
    """ChrF2 of one text beside another, from 0 to 100.

    It is what sacreBLEU tells of a sentence. That one counts both texts anew for each pair, and here all candidates are
    compared with all others.
    """
    shared = [(len(mine & theirs), len(mine), len(theirs)) for mine, theirs in zip(runs(text), runs(other))]
    shares = [(both / mine, both / theirs) for both, mine, theirs in shared if mine and theirs]
    precision, recall = (sum(column) / len(shares) for column in zip(*shares)) if shares else (0, 0)
    if not precision:
        return 0.0
    return 100 * (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def by_agreement(samples):
    """The candidate that is most like all of them: least expected risk (Kumar & Byrne 2004), chrF being the gain.

    Args:
        samples: Candidates drawn from the model, which count alike, the same text as often as it was drawn.
    """
    return most_like([text for text, _ in samples], [(text, 1.0) for text, _ in samples])


def by_weighted_agreement(beams):
    """The same of candidates that a search found: each counts by its probability."""
    return most_like([text for text, _ in beams], by_probability(beams))


def nearest(candidates, neighbours):
    """The answer to the nearest training question, whatever the candidates are."""
    return neighbours[0][0]


def by_neighbours(candidates, neighbours):
    """The candidate most like the answers to near training questions; without any, the first."""
    return most_like([text for text, _ in candidates], neighbours)


def among_neighbours(candidates, neighbours, share=0.5):
    """The most agreed on of candidates and the neighbours' answers together.

    Args:
        candidates: Drawn from the model, as for `by_agreement`.
        neighbours: As for `by_neighbours`.
        share: What the neighbours count of it all.
    """
    drawn = scaled([(text, 1.0) for text, _ in candidates], 1 - share)
    near = scaled(neighbours, share)
    return most_like([text for text, _ in [*candidates, *neighbours]], [*drawn, *near])


def by_reverse(candidates, reverse, weight=1.0):
    """The candidate from which the question can best be told (Li et al. 2016, section 4.2).

    Args:
        candidates: With their log-probabilities.
        reverse: The log-probability of the question given each of them.
        weight: What `reverse` counts beside their own.
    """
    ranks = [score + weight * back for (_, score), back in zip(candidates, reverse, strict=True)]
    return candidates[ranks.index(max(ranks))][0]


def most_like(texts, others):
    """The text with the highest chrF to others in the mean, each of which counts by its weight."""
    weights = {}
    for other, weight in others:
        weights[other] = weights.get(other, 0.0) + weight
    distinct = list(dict.fromkeys(texts))
    gains = [sum(weight * similarity(text, other) for other, weight in weights.items()) for text in distinct]
    return distinct[gains.index(max(gains))]


def by_probability(candidates):
    """Texts with their probabilities, in proportion to that of the likeliest."""
    highest = max(score for _, score in candidates)
    return [(text, math.exp(score - highest)) for text, score in candidates]


def scaled(weighted, total):
    """Texts whose weights sum up to `total`; none stay none."""
    whole = sum(weight for _, weight in weighted)
    return [(text, total * weight / whole) for text, weight in weighted]
