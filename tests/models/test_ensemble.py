import gc
import weakref

import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer import Beam, InputError, generate
from keras_transformer.decoding.generate import _programs
from keras_transformer.models.ensemble import Ensemble
from keras_transformer.models.transformer import transformer

pytestmark = pytest.mark.heavy

QUESTIONS = np.array([[5, 6, 7, 8], [9, 3, 0, 0], [4, 0, 0, 0]], "int32")
TOKENS = {"start_id": 1, "end_id": 2, "max_length": 6}


def probabilities_of(model, answers):
    """Those of each next token, by the whole pass."""
    return ops.convert_to_numpy(ops.softmax(model([QUESTIONS, answers])))


@pytest.fixture(scope="module")
def models():
    made = []
    for seed in (0, 1, 2):
        keras.utils.set_random_seed(seed)
        made.append(transformer(vocab_size=12, num_layers=1, dff=16, d_model=8, num_heads=2, dropout=0.5))
    return made


class Fixed:
    """Predicts the same probabilities at every step."""

    def __init__(self, probabilities):
        self.logits = ops.log(ops.convert_to_tensor([probabilities], "float32")) + 7.0  # Logits have any offset.

    def decode_step(self, ids, index, cache):
        return self.logits, cache


def test_the_probability_of_a_token_is_the_mean_of_the_models():
    ensemble = Ensemble([])
    ensemble.members = [Fixed([0.1, 0.6, 0.3]), Fixed([0.5, 0.2, 0.3])]
    log_probabilities, cache = ensemble.decode_step(np.array([1]), 0, ["a", "b"])
    np.testing.assert_allclose(ops.exp(log_probabilities), [[0.3, 0.4, 0.3]], atol=1e-6)
    assert cache == ["a", "b"]


@pytest.mark.parametrize("strategy", [None, Beam(num_beams=3)])
def test_a_model_beside_itself_answers_as_alone(models, strategy):
    alone = generate(models[0], QUESTIONS, **TOKENS, strategy=strategy)
    twice = generate(Ensemble([models[0], models[0]]), QUESTIONS, **TOKENS, strategy=strategy)
    np.testing.assert_array_equal(twice.ids, alone.ids)
    np.testing.assert_allclose(twice.scores, alone.scores, atol=1e-5)


def test_scores_are_those_of_the_whole_pass(models):
    found = generate(Ensemble(models), QUESTIONS, **TOKENS)
    answers = np.concatenate([np.full((3, 1), 1), found.ids[:, :-1]], axis=1)
    probabilities = np.mean([probabilities_of(model, answers) for model in models], axis=0)
    chosen = np.take_along_axis(probabilities, found.ids[:, :, None], axis=2)[..., 0]
    expected = np.where(found.ids != 0, np.log(chosen), 0).sum(axis=1)
    np.testing.assert_allclose(found.scores, expected, atol=1e-5)
    best = probabilities[:, :, 1:].argmax(axis=2) + 1  # Padding is never generated.
    np.testing.assert_array_equal(found.ids[:, 0], best[:, 0])


def test_it_has_no_attention_of_its_own(models):
    with pytest.raises(InputError, match="an ensemble has no attention of its own; ask one of its models"):
        generate(Ensemble(models), QUESTIONS, **TOKENS, return_attention=True)


def test_programs_do_not_keep_an_ensemble_alive(models):
    ensemble = Ensemble(models[:2])
    generate(ensemble, QUESTIONS, **TOKENS)
    assert ensemble in _programs
    gone = weakref.ref(ensemble)
    del ensemble
    gc.collect()
    assert gone() is None
