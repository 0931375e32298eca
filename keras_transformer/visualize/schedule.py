"""Plots of learning rate schedules (section 5.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import keras
import numpy as np
from keras import ops

from keras_transformer.config import check_number
from keras_transformer.language import translate as _
from keras_transformer.training.schedule import CustomSchedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 400  # Maximum number of points of a curve.
FORMULA = (
    r"$lrate = d_{model}^{-0.5} \cdot \min(step\_num^{-0.5},\ step\_num \cdot warmup\_steps^{-1.5})$   (section 5.3)"
)


def plot_schedule(
    schedules: keras.optimizers.schedules.LearningRateSchedule
    | Mapping[str, keras.optimizers.schedules.LearningRateSchedule],
    steps: int,
) -> Figure:
    """Plots one or several learning rate schedules.

    Args:
        schedules: A Keras `LearningRateSchedule`, such as `CustomSchedule`; or a dictionary from labels to schedules.
        steps: Number of steps to plot, from 0.

    Returns:
        A matplotlib `Figure`, with a marker at the end of each warm-up.

    Raises:
        InputError: If `steps` is not an integer of at least 1.
    """
    from keras_transformer.visualize.figure import drawing, line_style, name_lines

    check_number("steps", steps, int, 1, math.inf)
    schedules = schedules if isinstance(schedules, dict) else {settings_of(schedules): schedules}
    with drawing(schedules, 8, 4 + 0.2 * len(schedules)) as figure:
        axes = figure.subplots()
        for i, (label, schedule) in enumerate(schedules.items()):
            draw(axes, label, schedule, steps, line_style(i))
        axes.set(xlabel=_("step_num (updates of the weights)"), ylabel="lrate", xlim=(0, steps))
        axes.set_ylim(bottom=0)
        axes.ticklabel_format(axis="y", scilimits=(-2, 2), useMathText=True)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        if all(isinstance(schedule, CustomSchedule) for schedule in schedules.values()):
            axes.set_title(FORMULA)
        name_lines(figure, axes.lines)
    return figure


def draw(axes, label, schedule, steps, style):
    """Draws a schedule, with a marker at the end of its warm-up if it has one."""
    warm_up, at = getattr(schedule, "warmup_steps", 0), np.linspace(0, steps, POINTS).round()
    if not 0 < warm_up <= steps:
        axes.plot(at, rates(schedule, at), **style, label=label)
        return
    at = np.unique([*at, warm_up])
    [peak] = rates(schedule, [warm_up])
    label = _("{label}: warm-up ends at step {step:,}, lrate {peak:.3g}", label=label, step=warm_up, peak=peak)
    mark = {"marker": "o", "markeredgecolor": "white", "markevery": [np.searchsorted(at, warm_up)]}
    axes.plot(at, rates(schedule, at), **style, **mark, label=label)


def rates(schedule, steps):
    """Returns the learning rate at each step. Steps are passed one by one, because some schedules require scalars."""
    return [float(ops.convert_to_numpy(schedule(int(step)))) for step in steps]


def settings_of(schedule):
    """Returns the settings of a schedule as a label."""
    settings = (f"{name} {value}" for name, value in schedule.get_config().items() if isinstance(value, (int, float)))
    return f"{type(schedule).__name__}, {', '.join(settings)}"
