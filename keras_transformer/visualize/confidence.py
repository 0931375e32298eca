"""What a run refuses, by the rate of wrong refusals that it is allowed."""

import numpy as np

from keras_transformer.chat.confidence import Confidence
from keras_transformer.errors import InputError
from keras_transformer.runs.run import Run

RATES = np.linspace(0, 0.5, 501)
OWN = {"color": "0.5", "linewidth": 2.5}
LABELS = {
    "own": "questions like those of the calibration, at most",
    "rate": "rate of wrong refusals allowed",
    "share": "share refused",
    "kinds": {},
}
"""What the picture says; the kinds of questions have other names here, if they are to have any."""


def plot_refusals(confidence, asked=None):
    """Draws which share of questions is refused, by the rate of wrong refusals.

    Args:
        confidence: A `Confidence`, or the folder of a run that is calibrated.
        asked: Sets of questions, a dictionary from their names to pairs: the log-probability of the answer, in nats,
            and the pieces a character of the question. None for the foreign questions of the calibration.

    Returns:
        A matplotlib `Figure` with a curve for each set, and the rate itself, which questions of the run's own kind
        should keep to.

    Raises:
        InputError: If the run is not calibrated, or there is no set.
    """
    if not isinstance(confidence, Confidence):
        confidence = Confidence.of_run(Run(confidence))
    return draw_refusals(confidence, confidence.foreign if asked is None else asked, LABELS)


def draw_refusals(confidence, asked, labels, width=7):
    """The same of a `Confidence` and sets of questions, with labels like `LABELS`; the width is in inches."""
    from keras_transformer.visualize.figure import drawing, line_style, name_lines

    curves = refusals(confidence, asked)
    if not curves:
        raise InputError("there are no questions whose refusals could be drawn")
    named = [labels["kinds"].get(name, name) for name in curves]
    with drawing([*named, labels["own"]], width, 0.64 * width + 0.2 * len(curves)) as figure:
        axes = figure.subplots()
        axes.plot(RATES, RATES, label=labels["own"], **OWN)
        for i, (name, shares) in enumerate(zip(named, curves.values())):
            axes.plot(RATES, shares, label=name, **line_style(i))
        axes.set(xlabel=labels["rate"], ylabel=labels["share"], xlim=(0, RATES[-1]), ylim=(0, 1.02))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda share, _: f"{share:.0%}")
        name_lines(figure, axes.lines)
    return figure


def refusals(confidence, asked):
    """For each set of questions the share that is refused at each of `RATES`, arrays by the sets' names."""
    return {
        name: np.searchsorted(np.sort(confidence.of(*zip(*numbers))), RATES, side="right") / len(numbers)
        for name, numbers in asked.items()
    }
