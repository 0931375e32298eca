import numpy as np
import pytest

from keras_transformer import Confidence, InputError, plot_refusals
from keras_transformer.visualize.confidence import RATES

TEN = tuple((float(score), 0.0) for score in range(-9, 0))  # With a new one they are ten.


def made(**foreign):
    return Confidence(TEN, foreign, {}, "0")


def test_a_curve_for_each_set_beside_the_rate_itself():
    figure = plot_refusals(made(지어낸=((-20.0, 0), (0, 1.0), (-8.5, 0), (0, 0))))
    rate, curve = figure.axes[0].lines
    assert list(rate.get_xdata()) == list(rate.get_ydata()) == list(RATES)
    assert curve.get_label() == "지어낸"
    at = dict(zip(np.round(RATES, 3), curve.get_ydata()))
    assert [at[share] for share in (0, 0.199, 0.2, 0.399, 0.4, 0.5)] == [0, 0, 0.5, 0.5, 0.75, 0.75]
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()][1:] == ["지어낸"]


def test_other_sets_stand_in_the_place_of_those_of_the_calibration():
    figure = plot_refusals(made(foreign=((0, 0),)), {"test": [(-9, 0), (-1, 0)], "French": [(-30, 0)]})
    assert [line.get_label() for line in figure.axes[0].lines][1:] == ["test", "French"]
    assert figure.axes[0].lines[2].get_ydata()[-1] == 1


def test_what_cannot_be_drawn_is_said(small_run):
    with pytest.raises(InputError, match="there are no questions to plot refusals of"):
        plot_refusals(made())
    with pytest.raises(InputError, match="not calibrated"):
        plot_refusals(small_run)
