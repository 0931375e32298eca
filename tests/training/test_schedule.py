import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer import CustomSchedule


def rate(schedule, step):
    return float(ops.convert_to_numpy(schedule(step)))


def test_the_peak_stands_at_the_end_of_the_warm_up():
    schedule = CustomSchedule(512, warmup_steps=4000)
    assert rate(schedule, 4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert rate(schedule, 3990) < rate(schedule, 4000) > rate(schedule, 4010)


def test_it_rises_linearly_and_falls_with_the_inverse_square_root():
    schedule = CustomSchedule(128, warmup_steps=100)
    assert rate(schedule, 0) == 0
    assert rate(schedule, 50) == pytest.approx(rate(schedule, 100) / 2)
    assert rate(schedule, 400) == pytest.approx(rate(schedule, 100) / 2)


def test_many_steps_at_once_as_notebooks_draw_them():
    schedule = CustomSchedule(256)
    steps = np.arange(10, dtype="float32")
    curve = ops.convert_to_numpy(schedule(steps))
    assert curve.tolist() == pytest.approx([rate(schedule, step) for step in range(10)])


def test_it_is_saved_with_the_optimizer():
    optimizer = keras.optimizers.Adam(CustomSchedule(64, 123))
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert rate(again._learning_rate, 77) == pytest.approx(rate(CustomSchedule(64, 123), 77))
