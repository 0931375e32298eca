import keras
import pytest

from keras_transformer import Config, CustomSchedule, InputError, plot_schedule
from keras_transformer.training.schedule import make_schedule


def curves(figure):
    """The label, steps and rates of every curve."""
    return [(line.get_label(), *line.get_data()) for line in figure.axes[0].lines]


def marked(line):
    """The point of a curve that is marked."""
    [at] = line.get_markevery()
    return line.get_xdata()[at], line.get_ydata()[at]


def test_the_papers_schedule_with_its_peak_at_the_end_of_the_warm_up():
    figure = plot_schedule(CustomSchedule(64, warmup_steps=101), 1000)
    [(label, steps, rates)] = curves(figure)
    assert label == "CustomSchedule, d_model 64, warmup_steps 101: warm-up ends at step 101, lrate 0.0124"
    assert (steps[0], steps[-1], rates[0]) == (0, 1000, 0)
    assert list(rates) == [float(CustomSchedule(64, 101)(step)) for step in steps]
    step, rate = marked(figure.axes[0].lines[0])
    assert (step, rate) == (101, max(rates)) and rate == pytest.approx(1 / 8 / 101**0.5)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("step_num (updates of the weights)", "lrate")
    assert "warmup" in axes.get_title() and "(section 5.3)" in axes.get_title()


def test_several_by_their_labels_each_in_its_own_line():
    config = Config(schedule="cosine", learning_rate=0.5, warmup_steps=10)
    schedules = {
        "코사인": make_schedule(config, 40),
        "paper": CustomSchedule(64, 20),
        "constant": make_schedule(config.replace(schedule="constant"), 40),
    }
    figure = plot_schedule(schedules, 40)
    lines = figure.axes[0].lines
    assert [line.get_label().split(":")[0] for line in lines] == list(schedules)
    assert [marked(line)[0] for line in lines] == [10, 20, 10]
    assert len({line.get_color() for line in lines}) == len({line.get_linestyle() for line in lines}) == 3
    assert lines[0].get_ydata()[-1] == pytest.approx(0, abs=1e-6)
    assert figure.axes[0].get_title() == ""  # The formula would not be that of all.
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [line.get_label() for line in lines]


def test_one_of_keras_without_a_warm_up_has_no_mark():
    figure = plot_schedule(keras.optimizers.schedules.ExponentialDecay(0.5, 10, 0.5), 20)
    [(label, steps, rates)] = curves(figure)
    assert label == "ExponentialDecay, initial_learning_rate 0.5, decay_steps 10, decay_rate 0.5, staircase False"
    assert dict(zip(steps, rates))[10] == pytest.approx(0.25)
    assert figure.axes[0].lines[0].get_marker() == "None"


def test_a_warm_up_that_ends_later_has_no_mark():
    [line] = plot_schedule({"early": CustomSchedule(64, 100)}, 99).axes[0].lines
    assert (line.get_label(), line.get_marker()) == ("early", "None")


def test_no_steps_are_refused():
    with pytest.raises(InputError, match="steps must be a whole number of at least 1, not 0"):
        plot_schedule(CustomSchedule(64), 0)
