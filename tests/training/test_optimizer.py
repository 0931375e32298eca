import keras
import numpy as np
import pytest

from keras_transformer import Config, transformer
from keras_transformer.training.ema import AveragedWeights
from keras_transformer.training.losses import TokenLoss
from keras_transformer.training.optimizer import make_optimizer

pytestmark = pytest.mark.heavy

CONFIG = Config(num_layers=1, d_model=8, num_heads=2, dff=8, dropout=0.0, warmup_steps=2)


def model_of(config, tokens_per_batch):
    keras.utils.set_random_seed(0)
    model = transformer(30, config.num_layers, config.dff, config.d_model, config.num_heads, config.dropout)
    optimizer = make_optimizer(config, steps_per_epoch=10 * config.accumulate)
    model.compile(optimizer, TokenLoss(tokens_per_batch, config.label_smoothing))
    optimizer.build(model.trainable_variables)  # Else TensorFlow traces the training step twice.
    return model


def batches():
    """Three batches of 64, with answers of different lengths."""
    random = np.random.default_rng(0)
    for _ in range(3):
        ids = random.integers(1, 30, (64, 6)) * (np.arange(6) < random.integers(1, 7, (64, 1)))
        yield ids, ids[:, ::-1]


def step(model, ids, targets):
    model.train_on_batch({"inputs": ids, "dec_inputs": ids}, targets)


def weights(model):
    return arrays({variable.path: variable for variable in model.trainable_variables})


def arrays(values):
    """All but the keys' biases: no softmax notices them, so that Adam moves them by the rounding of a gradient of 0."""
    return [keras.ops.convert_to_numpy(value) for path, value in values.items() if not path.endswith("key/bias")]


def averages(model):
    callback = AveragedWeights()
    callback.set_model(model)
    return arrays(callback.averages())


@pytest.fixture(scope="module")
def trained():
    """Models of whole and of halved batches, and the weights of the second before its last half."""
    whole = model_of(CONFIG, tokens_per_batch=200)
    halves = model_of(CONFIG.replace(accumulate=2), tokens_per_batch=100)
    for ids, targets in batches():
        step(whole, ids, targets)
        step(halves, ids[:32], targets[:32])
        between = weights(halves)
        step(halves, ids[32:], targets[32:])
    return whole, halves, between


def test_two_halves_of_a_batch_make_the_update_of_the_whole(trained):
    """Each half divides its sum by half the tokens, and Keras the sum of both by 2."""
    whole, halves, between = trained
    for ours, theirs in zip(weights(halves), weights(whole)):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert any((now != then).any() for now, then in zip(weights(halves), between))


def test_the_average_reaches_as_many_updates_back(trained):
    """Its last blend is one of two; so the next batch, which only accumulates, completes it."""
    whole, halves, _ = trained
    *_, (ids, targets) = batches()
    step(halves, ids[:32], targets[:32])
    for ours, theirs in zip(averages(halves), averages(whole)):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_a_clipped_gradient_moves_every_weight_as_a_shorter_one_would():
    """Adam forgives a gradient's length, but not its moments: they hold 1 - beta_1 of what it was given."""
    model = model_of(CONFIG.replace(clip_norm=0.5), tokens_per_batch=1)
    step(model, *next(batches()))
    norm = sum((array**2).sum() for array in map(keras.ops.convert_to_numpy, model.optimizer._momentums)) ** 0.5
    assert norm == pytest.approx(0.1 * 0.5, rel=1e-5)
