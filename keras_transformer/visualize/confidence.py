"""Refusal curves: the share of refused questions by the allowed false refusal rate."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from keras_transformer.chat.confidence import Confidence
from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = np.linspace(0, 0.5, 501)
DIAGONAL = {"color": "0.5", "linewidth": 2.5}
LABELS = {
    "own": translatable("in-domain questions, at most"),
    "rate": translatable("allowed false refusal rate"),
    "share": translatable("share refused"),
    "kinds": {},
}
"""The labels of the figure; "kinds" optionally maps the kinds of questions to other names."""


def plot_refusals(
    confidence: Confidence | str | os.PathLike,
    question_sets: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Figure:
    """Plots the share of refused questions by the allowed false refusal rate.

    Args:
        confidence: A `Confidence`, or the folder of a calibrated run.
        question_sets: Dictionary from the name of each set of questions to a pair for each question: the
            log-probability of the answer in nats, and the pieces per character of the question. None for the
            out-of-domain questions of the calibration.

    Returns:
        A matplotlib `Figure` with a curve for each set, and a line for the rate itself, which is the upper bound for
        in-domain questions.

    Raises:
        InputError: If the run is not calibrated, or there are no sets.
    """
    if not isinstance(confidence, Confidence):
        confidence = Confidence.of_run(Run(confidence))
    translated = {name: _(label) for name, label in LABELS.items() if label}
    question_sets = confidence.out_of_domain if question_sets is None else question_sets
    return draw_refusals(confidence, question_sets, {**LABELS, **translated})


def draw_refusals(confidence, question_sets, labels, width=7):
    """Plots refusal curves as `plot_refusals`, with labels like `LABELS` and a width in inches."""
    from keras_transformer.visualize.figure import drawing, line_style, name_lines

    curves = refusals(confidence, question_sets)
    if not curves:
        raise InputError(_("there are no questions to plot refusals of"))
    named = [labels["kinds"].get(name, name) for name in curves]
    with drawing([*named, labels["own"]], width, 0.64 * width + 0.2 * len(curves)) as figure:
        axes = figure.subplots()
        axes.plot(RATES, RATES, label=labels["own"], **DIAGONAL)
        for i, (name, shares) in enumerate(zip(named, curves.values())):
            axes.plot(RATES, shares, label=name, **line_style(i))
        axes.set(xlabel=labels["rate"], ylabel=labels["share"], xlim=(0, RATES[-1]), ylim=(0, 1.02))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda share, _: f"{share:.0%}")
        name_lines(figure, axes.lines)
    return figure


def refusals(confidence, question_sets):
    """Returns the shares refused at each of `RATES`, a dictionary from the names of the sets to arrays."""
    return {
        name: np.searchsorted(np.sort(confidence.of(*zip(*numbers))), RATES, side="right") / len(numbers)
        for name, numbers in question_sets.items()
    }
