"""Each invariant holds for a model, and notices a model that breaks it."""

import keras
import numpy as np
import pytest

from keras_transformer.decoding import beam_search
from keras_transformer.doctor import invariants
from keras_transformer.doctor.model import LENGTH, LOGITS_DIFFER, SCORES_DIFFER, TOKENS, VOCAB_SIZE, untrained_model
from keras_transformer.layers.masks import LookAheadMask, PaddingMask
from keras_transformer.models.incremental import IncrementalTransformer

pytestmark = pytest.mark.heavy

BATCH = invariants.random_batch(VOCAB_SIZE, VOCAB_SIZE, TOKENS, LENGTH)
SOURCE = BATCH[0]


@pytest.fixture(scope="module")
def model():
    return untrained_model()


def without_mask(monkeypatch, layer):
    """Breaks a mask layer: it hides nothing."""
    original = layer.call
    monkeypatch.setattr(layer, "call", lambda self, x: original(self, x) * 0)


def test_the_batch_has_questions_of_three_lengths_and_answers_without_padding():
    questions, answers = BATCH
    assert (questions != 0).sum(axis=1).tolist() == [12, 8, 4]
    assert answers.shape == (3, 11) and (answers != 0).all() and (answers[:, 0] == TOKENS.start_id).all()


@pytest.mark.parametrize(
    "invariant",
    [
        invariants.future_changes_past, invariants.padded_against_alone, invariants.cached_against_whole_pass,
        invariants.saved_against_loaded,
    ],
)  # fmt: skip
def test_logits_agree(model, invariant):
    assert invariant(model, *BATCH) < LOGITS_DIFFER / 100


def test_answers_and_scores_agree(model):
    assert invariants.batch_against_one_by_one(model, SOURCE, TOKENS, 8) == 0
    assert invariants.beam_scores_against_teacher_forcing(model, SOURCE, TOKENS, 8) < SCORES_DIFFER / 100


def test_a_look_ahead_mask_that_hides_nothing_is_noticed(monkeypatch):
    without_mask(monkeypatch, LookAheadMask)
    assert invariants.future_changes_past(untrained_model(), *BATCH) > LOGITS_DIFFER


def test_a_padding_mask_that_hides_nothing_is_noticed(monkeypatch):
    without_mask(monkeypatch, PaddingMask)
    model = untrained_model()
    assert invariants.padded_against_alone(model, *BATCH) > LOGITS_DIFFER


def test_a_cache_that_is_not_written_is_noticed(model, monkeypatch):
    step = IncrementalTransformer.decode_step
    monkeypatch.setattr(IncrementalTransformer, "decode_step", lambda *args: (step(*args)[0], args[3]))
    assert invariants.cached_against_whole_pass(model, *BATCH) > LOGITS_DIFFER


def test_a_saved_model_that_loses_a_weight_is_noticed(model, monkeypatch):
    load = keras.saving.load_model

    def forgetful(*args, **kwargs):
        loaded = load(*args, **kwargs)
        loaded.weights[0].assign(np.zeros(loaded.weights[0].shape))
        return loaded

    monkeypatch.setattr(keras.saving, "load_model", forgetful)
    assert invariants.saved_against_loaded(model, *BATCH) > LOGITS_DIFFER


def test_a_batch_with_another_answer_is_noticed(model, monkeypatch):
    generate = invariants.generate_answers

    def first_alone(model, inputs, config, tokens):
        return generate(model, inputs[:1].repeat(len(inputs), axis=0), config, tokens)

    monkeypatch.setattr(invariants, "generate_answers", first_alone)
    assert invariants.batch_against_one_by_one(model, SOURCE, TOKENS, 8) > 0


def test_wrong_beam_scores_are_noticed(monkeypatch):
    best = beam_search.advance

    def generous(*args):
        state = best(*args)
        return {**state, "finished": {**state["finished"], "scores": state["finished"]["scores"] + 1}}

    monkeypatch.setattr(beam_search, "advance", generous)
    assert invariants.beam_scores_against_teacher_forcing(untrained_model(), SOURCE, TOKENS, 8) > SCORES_DIFFER


def test_weights_that_are_not_finite_make_an_infinite_difference():
    model = untrained_model()
    model.weights[-1].assign(np.full(model.weights[-1].shape, np.nan))
    assert invariants.cached_against_whole_pass(model, *BATCH) == np.inf
