"""Checks of a `transformer()`: the invariants of `invariants.py` with their tolerances."""

import keras
import numpy as np

from keras_transformer.decoding.config import AnswerTokens
from keras_transformer.doctor import invariants
from keras_transformer.doctor.finding import guarded, passed_if
from keras_transformer.language import translate as _

LOGITS_DIFFER = 1e-2  # Relative to their standard deviation. On a CPU the difference is about 1e-5; GPUs round more.
SCORES_DIFFER = 1e-2  # Nats per token.
LENGTH = 12  # Maximum number of tokens of the questions and answers compared.
VOCAB_SIZE = 40
TOKENS = AnswerTokens(start_id=1, end_id=2)


def untrained_model():
    """Returns a tiny model with random weights, to check an installation without a run."""
    from keras_transformer.models.transformer import transformer

    keras.utils.set_random_seed(0)
    return transformer(VOCAB_SIZE, num_layers=2, dff=32, d_model=16, num_heads=4, dropout=0.1)


def model_findings(model, vocab_size=VOCAB_SIZE, target_vocab_size=VOCAB_SIZE, tokens=TOKENS, max_length=LENGTH):
    """Yields a `Finding` for each invariant of a model.

    Args:
        model: A `transformer()`.
        vocab_size: Vocabulary size of the questions.
        target_vocab_size: Vocabulary size of the answers.
        tokens: The `AnswerTokens`.
        max_length: Maximum number of tokens that the model was trained for.
    """
    length = min(LENGTH, max_length)
    source, target = invariants.random_batch(vocab_size, target_vocab_size, tokens, length)

    def logits(check, function):
        return guarded(check, lambda: compared(check, function(model, source, target)))

    yield guarded(_("The weights are finite"), finite_weights, model)
    yield logits(_("Future tokens do not change past logits"), invariants.future_changes_past)
    yield logits(_("A padded batch has the logits of each pair alone"), invariants.padded_against_alone)
    yield logits(_("Decoding with the cache has the logits of the whole pass"), invariants.cached_against_whole_pass)
    yield logits(_("A saved and loaded model has the same logits"), invariants.saved_against_loaded)
    check = _("A batch of questions gets the answers of each question alone")
    yield guarded(check, lambda: answers_alike(check, model, source, tokens, length))
    check = _("Beam scores are the log-probabilities of the answers")
    yield guarded(check, lambda: scores_alike(check, model, source, tokens, length))


def compared(check, difference):
    """Returns the `Finding` for a difference of logits."""
    measured = _("largest difference {difference:.1e} standard deviations", difference=difference)
    return passed_if(difference <= LOGITS_DIFFER, check, measured, broken())


def finite_weights(model):
    """Returns the `Finding` that no weight is NaN or infinite."""
    values = (keras.ops.convert_to_numpy(variable) for variable in model.weights)
    count = sum(int(np.size(value) - np.isfinite(value).sum()) for value in values)
    measured = _("{count:,} of {all:,} are NaN or infinite", count=count, all=model.count_params())
    return passed_if(not count, _("The weights are finite"), measured, _("Train the run again."))


def answers_alike(check, model, source, tokens, length):
    """Returns the `Finding` that batching does not change greedy answers."""
    share = invariants.batch_against_one_by_one(model, source, tokens, length)
    return passed_if(not share, check, _("{share:.0%} of the answers differ", share=share), broken())


def scores_alike(check, model, source, tokens, length):
    """Returns the `Finding` that the scores of beam search are those of teacher forcing."""
    gap = invariants.beam_scores_against_teacher_forcing(model, source, tokens, length)
    measured = _("largest difference {difference:.1e} nats per token", difference=gap)
    return passed_if(gap <= SCORES_DIFFER, check, measured, broken())


def broken():
    """Returns the advice for a violated invariant."""
    return _("Answers of this installation cannot be trusted: reinstall the package with the tested versions.")
