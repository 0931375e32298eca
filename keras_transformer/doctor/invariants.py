"""Invariants of a trained `transformer()`: two ways to compute the same thing must agree.

Every function returns the largest difference that it found, 0 in exact arithmetic. Differences of logits are relative
to the standard deviation of the logits, so that one tolerance fits trained and untrained models.
"""

import pathlib
import tempfile

import keras
import numpy as np
from keras import ops

from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.decoding.generate import generate_answers
from keras_transformer.models.incremental import IncrementalTransformer
from keras_transformer.padding import PAD_ID, pad

BEAMS = 3


def logits_of(model, source, target):
    """Returns the logits of a model in inference mode, float32 (batch, answer length, vocabulary size)."""
    logits = model({"inputs": np.asarray(source, "int32"), "dec_inputs": np.asarray(target, "int32")}, training=False)
    return ops.convert_to_numpy(ops.cast(logits, "float32"))


def difference(actual, expected):
    """Returns the largest difference of two arrays, relative to the standard deviation of the second; NaN counts."""
    gap = np.max(np.abs(actual - expected)) / max(float(np.std(expected)), np.finfo("float32").tiny)
    return float(gap) if np.isfinite(gap) else float("inf")


def future_changes_past(model, source, target):
    """Compares the logits before the last answer token with those for another last token (section 3.2.3, masking).

    Args:
        model: A `transformer()`.
        source: Token ids of questions, int32 (batch, length), padded with 0.
        target: Token ids of answers, int32 (batch, answer length), without padding.
    """
    changed = target.copy()
    changed[:, -1] = np.where(target[:, -1] == target[:, 0], target[:, 0] - 1, target[:, 0])
    return difference(*(logits_of(model, source, ids)[:, :-1] for ids in (changed, target)))


def padded_against_alone(model, source, target):
    """Compares the logits of every question and answer in a padded batch with those of the pair alone."""
    wide = np.pad(source, ((0, 0), (0, 3))), np.pad(target, ((0, 0), (0, 2)))
    batch = logits_of(model, *wide)[:, : target.shape[1]]
    pairs = [(unpadded(question), answer[np.newaxis]) for question, answer in zip(source, target)]
    return difference(batch, np.concatenate([logits_of(model, *pair) for pair in pairs]))


def cached_against_whole_pass(model, source, target):
    """Compares the logits of incremental decoding, one token per step, with those of one pass over the answer."""
    incremental = IncrementalTransformer(model)
    cache, steps = incremental.prefill(source, target.shape[1] + 1), []
    for index in range(target.shape[1]):
        logits, cache = incremental.decode_step(target[:, index], index, cache)
        steps.append(ops.convert_to_numpy(logits))
    return difference(np.stack(steps, axis=1), logits_of(model, source, target))


def batch_against_one_by_one(model, source, tokens, max_length):
    """Returns the share of questions that get another greedy answer in a batch than alone.

    Args:
        model: A `transformer()`.
        source: Token ids of questions, int32 (batch, length), padded with 0.
        tokens: The `AnswerTokens`.
        max_length: Maximum number of tokens of an answer.
    """
    config = GenerationConfig(max_length=max_length)
    together = generate_answers(model, source, config, tokens).ids
    alone = [generate_answers(model, unpadded(question), config, tokens).ids[0] for question in source]
    return float(np.mean([not np.array_equal(*both) for both in zip(together, alone)]))


def beam_scores_against_teacher_forcing(model, source, tokens, max_length):
    """Compares the scores of a beam search with the log-probabilities of its answers under teacher forcing.

    Returns:
        The largest difference in nats per token.
    """
    config = GenerationConfig(Beam(BEAMS), num_return=BEAMS, max_length=max_length)
    generation = generate_answers(model, source, config, tokens)
    ids, scores = generation.ids.reshape(-1, max_length), generation.scores.ravel()
    starts = np.full((len(ids), 1), tokens.start_id, "int32")
    logits = logits_of(model, np.repeat(source, BEAMS, axis=0), np.concatenate([starts, ids[:, :-1]], axis=1))
    log_probabilities = ops.convert_to_numpy(ops.log_softmax(logits))
    chosen = np.take_along_axis(log_probabilities, ids[..., np.newaxis], axis=-1)[..., 0]
    lengths = (ids != PAD_ID).sum(axis=1)
    expected = np.where(ids != PAD_ID, chosen, 0).sum(axis=1)
    gaps = np.abs(scores - expected)[lengths > 0] / lengths[lengths > 0]
    return float(np.max(np.where(np.isfinite(gaps), gaps, np.inf), initial=0.0))


def saved_against_loaded(model, source, target):
    """Compares the logits of a model with those of its copy, saved as a `.keras` file and loaded in safe mode."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.keras"
        model.save(path)
        loaded = keras.saving.load_model(path, compile=False, safe_mode=True)
    return difference(logits_of(loaded, source, target), logits_of(model, source, target))


def unpadded(question):
    """Returns a padded question as a batch of one without padding, int32 (1, length)."""
    return question[np.newaxis, question != PAD_ID]


def random_batch(vocab_size, target_vocab_size, tokens, length, seed=0):
    """Returns random token ids of three questions of different lengths, and of three answers of one length."""
    random = np.random.default_rng(seed)
    lengths = [length, max(1, length * 2 // 3), max(1, length // 3)]
    questions = [random.integers(1, vocab_size, size).tolist() for size in lengths]
    answers = random.integers(1, target_vocab_size, (len(lengths), max(2, length - 1))).astype("int32")
    answers[:, 0] = tokens.start_id
    return pad(questions), answers
