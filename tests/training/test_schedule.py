import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer import Config, CustomSchedule, InputError
from keras_transformer.training.schedule import make_schedule


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


def course(config, batches, steps):
    schedule = make_schedule(config, batches)
    return [rate(schedule, step) for step in steps]


OWN = Config(learning_rate=0.001, warmup_steps=10)


def test_a_factor_scales_every_rate_and_is_saved():
    config = OWN.replace(schedule="constant", accumulate=2)
    schedule = make_schedule(config, 200, factor=0.25)
    assert [rate(schedule, step) for step in (0, 10, 20, 90)] == pytest.approx([0, 0.000125, 0.00025, 0.00025])
    again = keras.optimizers.schedules.deserialize(keras.optimizers.schedules.serialize(schedule))
    assert rate(again, 10) == rate(schedule, 10)


def test_the_papers_schedule_is_the_default():
    schedule = make_schedule(Config(d_model=64, warmup_steps=100), 1000)
    assert schedule.get_config() == CustomSchedule(64, 100).get_config()
    assert rate(schedule, 100) == pytest.approx(1 / 80)  # 1 / √(64 · 100)


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("inverse_sqrt", [0, 0.0005, 0.001, 0.0005, 0.00025]),
        ("constant", [0, 0.0005, 0.001, 0.001, 0.001]),
        ("cosine", [0, 0.0005, 0.001, 0.0009045085, 0]),  # After a fifth of the fall: (1 + cos 36°) / 2.
    ],
)
def test_the_others_rise_to_the_learning_rate_and_go_their_ways(name, rates):
    assert course(OWN.replace(schedule=name), 160, [0, 5, 10, 40, 160]) == pytest.approx(rates)


def test_a_cosine_needs_more_updates_than_its_warm_up():
    with pytest.raises(InputError, match="warmup_steps 10 must be below the 10 updates of the training for a cosine"):
        make_schedule(OWN.replace(schedule="cosine", accumulate=2), 21)


@pytest.mark.parametrize("batches", [0, 1])
def test_the_shortest_warm_up_of_a_cosine_fits_every_training(batches):
    assert rate(make_schedule(OWN.replace(schedule="cosine", warmup_steps=1), batches), 0) == 0


@pytest.mark.parametrize("name", ["inverse_sqrt", "constant", "cosine"])
def test_with_accumulation_updates_are_counted_not_batches(name):
    one, three = OWN.replace(schedule=name), OWN.replace(schedule=name, accumulate=3)
    updates = [value for value in course(one, 40, range(40)) for _ in range(3)]
    assert course(three, 120, range(120)) == pytest.approx(updates)


@pytest.mark.parametrize("name", ["inverse_sqrt", "constant", "cosine"])
def test_all_are_saved_with_the_optimizer(name):
    schedule = make_schedule(OWN.replace(schedule=name, accumulate=2), 200)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(keras.optimizers.Adam(schedule)))
    assert rate(again._learning_rate, 77) == pytest.approx(rate(schedule, 77))
