"""Reranking: functions that select one of several candidate answers.

A candidate is a pair of an answer and its log-probability. A neighbour is a pair of a training answer and the
similarity of its question. Of equally good candidates, the first one is selected.
"""

import functools
import itertools
import math

ORDERS, BETA = range(1, 7), 2  # Of chrF2: n-grams of 1 to 6 characters, and recall weighted twice as much as precision.


@functools.lru_cache(maxsize=1 << 16)
def runs(text):
    """Returns the character n-grams of a text for each of `ORDERS`: sets of (n-gram, previous occurrences)."""
    text = "".join(text.split())
    found = []
    for order in ORDERS:
        times = {}
        grams = (text[start : start + order] for start in range(len(text) - order + 1))
        found.append({(gram, next(times.setdefault(gram, itertools.count()))) for gram in grams})
    return found


def similarity(text, other):
    """Returns the chrF2 of two texts, from 0 to 100.

    It equals sacreBLEU's sentence chrF2. It is faster, because each text's n-grams are counted only once, although all
    candidates are compared with all others.
    """
    shared = [(len(mine & theirs), len(mine), len(theirs)) for mine, theirs in zip(runs(text), runs(other))]
    shares = [(both / mine, both / theirs) for both, mine, theirs in shared if mine and theirs]
    precision, recall = (sum(column) / len(shares) for column in zip(*shares)) if shares else (0, 0)
    if not precision:
        return 0.0
    return 100 * (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def by_agreement(samples):
    """Selects the candidate most similar to all: minimum Bayes risk (Kumar & Byrne 2004) with chrF as the gain.

    Args:
        samples: Candidates sampled from the model. Duplicates count as often as they were sampled.
    """
    return most_like([text for text, _ in samples], [(text, 1.0) for text, _ in samples])


def by_weighted_agreement(beams):
    """Selects like `by_agreement` among the candidates of a search, each weighted by its probability."""
    return most_like([text for text, _ in beams], by_probability(beams))


def nearest(candidates, neighbours):
    """Returns the answer to the nearest training question and ignores the candidates."""
    return neighbours[0][0]


def by_neighbours(candidates, neighbours):
    """Selects the candidate most similar to the answers of the neighbours; the first one without neighbours."""
    return most_like([text for text, _ in candidates], neighbours)


def among_neighbours(candidates, neighbours, share=0.5):
    """Selects by agreement among the candidates and the neighbours' answers together.

    Args:
        candidates: Candidates sampled from the model, as for `by_agreement`.
        neighbours: The neighbours.
        share: Share of the neighbours in the total weight.
    """
    drawn = scaled([(text, 1.0) for text, _ in candidates], 1 - share)
    near = scaled(neighbours, share)
    return most_like([text for text, _ in [*candidates, *neighbours]], [*drawn, *near])


def by_reverse(candidates, reverse, weight=1.0):
    """Selects the candidate from which the question is most probable (Li et al. 2016, section 4.2).

    Args:
        candidates: The candidates.
        reverse: The log-probability of the question given each candidate.
        weight: Weight of `reverse`, relative to the candidates' own log-probabilities.
    """
    ranks = [score + weight * back for (_, score), back in zip(candidates, reverse, strict=True)]
    return candidates[ranks.index(max(ranks))][0]


def most_like(texts, others):
    """Returns the text with the highest weighted mean chrF to the others."""
    weights = {}
    for other, weight in others:
        weights[other] = weights.get(other, 0.0) + weight
    distinct = list(dict.fromkeys(texts))
    gains = [sum(weight * similarity(text, other) for other, weight in weights.items()) for text in distinct]
    return distinct[gains.index(max(gains))]


def by_probability(candidates):
    """Returns pairs of a text and its weight: its probability relative to the most probable text."""
    highest = max(score for _, score in candidates)
    return [(text, math.exp(score - highest)) for text, score in candidates]


def scaled(weighted, total):
    """Returns weighted texts with the weights scaled to sum to `total`; an empty list stays empty."""
    whole = sum(weight for _, weight in weighted)
    return [(text, total * weight / whole) for text, weight in weighted]
