"""Training curves of runs, from their metrics.csv."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

from keras_transformer.errors import InputError
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.runs.history import best_row
from keras_transformer.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THIN, THICK = 0.9, 2.0
PANELS = {
    translatable("Loss (nats per token)"): {"loss": THIN, "val_loss": THICK},
    translatable("Bits per character"): {"val_bits_per_char": THICK},
    translatable("Accuracy (share of tokens)"): {"accuracy": THIN, "val_accuracy": THICK},
    translatable("Learning rate"): {"learning_rate": THIN},
}
"""The columns of metrics.csv in each panel, with their line widths."""

BEST = {"marker": "o", "markersize": 6, "markeredgecolor": "white", "zorder": 3}  # Drawn above all lines.
MEANING: dict[str, dict[str, Any]] = {
    translatable("validation"): {"linewidth": THICK},
    translatable("training"): {"linewidth": THIN},
    translatable("best epoch, whose weights are kept"): {"linestyle": "none", **BEST},
}


PANEL = (4.2, 2.5)  # Size in inches of a panel as a figure of its own.


@dataclasses.dataclass(frozen=True)
class TrainingCurves:
    """The data of a run's training curves.

    Attributes:
        rows: The metrics, a list of one dictionary per epoch.
        best: The row of the best epoch.
        label: The label of the run.
        style: The style of its lines.
    """

    rows: list
    best: dict
    label: str
    style: dict


def plot_training(*runs: Run | str | os.PathLike) -> Figure:
    """Plots the training curves of one or several runs by epoch, including unfinished ones.

    Args:
        *runs: Run folders, or `Run`s.

    Returns:
        A matplotlib `Figure`, with a marker at the best epoch of each run.

    Raises:
        InputError: If no run is given, or a run cannot be read or has no metrics.
    """
    from keras_transformer.visualize.figure import drawing, line_style, name_lines, sample

    if not runs:
        raise InputError(_("name at least one run to plot"))
    opened = [run if isinstance(run, Run) else Run(run) for run in runs]
    curves = [read(run, name, line_style(i)) for i, (run, name) in enumerate(zip(opened, names_of(opened)))]
    with drawing([run.label for run in curves], 9, 6.5) as figure:
        panels = figure.subplots(2, 2, sharex=True)
        for axes, (title, columns) in zip(panels.flat, PANELS.items()):
            draw_panel(axes, _(title), columns, curves)
        for axes in panels[-1]:
            axes.set_xlabel(_("epoch"))
            axes.xaxis.get_major_locator().set_params(integer=True)
        name_lines(figure, [sample(run.label, linewidth=THICK, **run.style) for run in curves])
        handles = [sample(_(label), color="0.3", **style) for label, style in MEANING.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def training_panels(run):
    """Plots the panels of `plot_training` as separate small figures that fit the width of a phone.

    Args:
        run: The `Run`.

    Returns:
        A dictionary from the titles of the panels to matplotlib `Figure`s without a title; empty panels are omitted.

    Raises:
        InputError: If the run cannot be read or has no metrics.
    """
    from keras_transformer.visualize.figure import drawing, line_style

    curves, figures = read(run, run.path.name, line_style(0)), {}
    for title, columns in PANELS.items():
        if any(column in row for row in curves.rows for column in columns):
            with drawing([], *PANEL) as figures[title]:
                axes = figures[title].subplots()
                draw_panel(axes, "", columns, [curves])
                axes.set_xlabel("epoch")
                axes.xaxis.get_major_locator().set_params(integer=True)
    return figures


def read(run, name, style):
    """Returns the `TrainingCurves` of a run."""
    rows, monitor = run.metrics(), run.config.monitor
    if not rows:
        raise InputError(_("{path}: no metrics: no epoch has finished yet, or the export omitted them", path=run.path))
    best = best_row(rows, monitor)
    if best is None:
        raise InputError(_("{path}: every epoch so far has diverged: there is no best epoch to plot", path=run.path))
    values = {"name": name, "best": best["epoch"], "epochs": len(rows), "monitor": monitor, "score": best[monitor]}
    if run.summary():
        label = _("{name}: best epoch {best:.0f} of {epochs}, {monitor} {score:.4f}", **values)
    else:
        label = _("{name}: best epoch {best:.0f} of {epochs} so far, {monitor} {score:.4f}", **values)
    return TrainingCurves(rows, best, label, style)


def names_of(runs):
    """Returns a name for each run: its folder name, or its path if several runs share the name."""
    names = [run.path.resolve().name for run in runs]
    return [name if names.count(name) == 1 else str(run.path) for run, name in zip(runs, names)]


def draw_panel(axes, title, columns, curves):
    """Draws some metrics of all runs into a panel."""
    axes.set_title(title)
    for run in curves:
        for column, width in columns.items():
            draw(axes, run, column, width)
    if not axes.lines:
        axes.set_yticks([])
        axes.text(0.5, 0.5, _("not in metrics.csv"), transform=axes.transAxes, ha="center")


def draw(axes, run, column, width):
    """Draws one metric of a run, if present; for validation metrics, marks the best epoch."""
    points = [(row["epoch"], row[column]) for row in run.rows if column in row]
    if points:
        marker = {"marker": "."} if len(points) == 1 else {}
        axes.plot(*zip(*points), **run.style, linewidth=width, **marker)
    if width == THICK and column in run.best:
        axes.plot(run.best["epoch"], run.best[column], color=run.style["color"], **BEST)
