import keras
import numpy as np
import pytest

from keras_transformer.training.ema import AveragedWeights, AveragingAdam, momentum


@pytest.fixture
def model():
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(AveragingAdam(0.5, use_ema=True, ema_momentum=0.75), loss="mse")
    return model


def weights(model):
    return keras.ops.convert_to_numpy(model.trainable_variables[0]).copy()


def averages(average):
    (value,) = average.averages().values()
    return keras.ops.convert_to_numpy(value).copy()


def train_step(model):
    model.train_on_batch(np.ones((4, 2)), np.full((4, 1), 9.0))


def test_the_average_is_a_quarter_new_and_three_quarters_old(model):
    average = AveragedWeights()
    average.set_model(model)
    train_step(model)
    first = weights(model)
    train_step(model)
    second = weights(model)
    np.testing.assert_allclose(averages(average), 0.75 * first + 0.25 * second, rtol=1e-6)
    np.testing.assert_array_equal(weights(model), second)
    assert list(average.averages()) == [model.trainable_variables[0].path]


def test_validation_sees_the_average_and_training_goes_on_from_the_weights(model):
    average, seen = AveragedWeights(), []

    class Look(keras.callbacks.Callback):
        def on_test_begin(self, logs=None):
            seen.append(weights(self.model))

    data = (np.ones((4, 2)), np.full((4, 1), 9.0))
    model.fit(*data, batch_size=1, epochs=1, validation_data=data, callbacks=[average, Look()], verbose=0)
    after = weights(model)
    assert (seen[0] != after).all()
    np.testing.assert_array_equal(averages(average), seen[0])


@pytest.mark.parametrize(("updates", "expected"), [(100_000, 0.99), (2000, 0.99), (1000, 0.98), (200, 0.9), (5, 0.0)])
def test_the_average_of_a_short_training_is_short(updates, expected):
    assert momentum(updates) == pytest.approx(expected)


@pytest.mark.parametrize("amsgrad", [False, True])
def test_every_step_is_that_of_adam(amsgrad):
    def trained(optimizer):
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.layers.Embedding(5, 3), keras.layers.Dense(2)])
        model.compile(optimizer(0.1, beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0, amsgrad=amsgrad), loss="mse")
        for step in range(4):
            model.train_on_batch(np.array([[1, 1], [3, 0]]), np.full((2, 2, 2), float(step)))
        return model.get_weights()

    for ours, adams in zip(trained(AveragingAdam), trained(keras.optimizers.Adam), strict=True):
        np.testing.assert_allclose(ours, adams, rtol=1e-5, atol=1e-6)
