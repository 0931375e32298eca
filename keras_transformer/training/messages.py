"""Messages of a training: warnings about unsuitable settings, and sample answers."""

import numpy as np

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.language import translate as _
from keras_transformer.runs.history import best_row, has_diverged
from keras_transformer.text.turns import BETWEEN

SAMPLES = 5  # Number of sample questions answered at the end of training.
CLEARLY = 0.01  # Minimum relative improvement of the last epoch for a hint to train longer.


def warm_up_warning(config, batches):
    """Returns a warning if the training is shorter than its warm-up, else None.

    Args:
        config: The `Config`.
        batches: Number of batches in the whole training.
    """
    updates = batches // config.accumulate
    if config.warmup_steps <= updates:
        return None
    return _(
        "The warm-up of {warm_up:,} steps is longer than the training of {updates:,} steps: the learning rate never "
        "reaches its peak. Lower --warmup-steps or raise --epochs.",
        warm_up=config.warmup_steps,
        updates=updates,
    )


def epochs_hint(config, rows):
    """Returns a hint to train longer if the last epoch clearly improved the validation score, else None.

    Args:
        config: The `Config`.
        rows: The metrics of all epochs.
    """
    monitor = config.monitor
    best = best_row(rows, monitor)
    if not monitor.startswith("val_") or not best or best["epoch"] != config.epochs:
        return None
    before = best_row([row for row in rows if row is not best and not has_diverged(row)], monitor)
    if before and abs(best[monitor] - before[monitor]) < CLEARLY * abs(before[monitor]):
        return None
    return _("The best epoch was the last one: more --epochs may give better answers.")


def sample_answers(run, validation, training):
    """Answers evenly spaced validation questions with the best weights of a run.

    Args:
        run: The `Run`.
        validation: The `EncodedPairs` of the validation split.
        training: The `EncodedPairs` of the training split, used if the validation split is too small.

    Returns:
        A list of pairs of lines (question, answer).
    """
    few = run.config.hold_out and len(validation) < SAMPLES
    encoded = training if few else validation
    places = np.linspace(0, len(encoded) - 1, SAMPLES).astype(int)
    questions = list(dict.fromkeys(question_text(run.tokenizer, encoded.question(place)) for place in places))
    answers = Chatbot.load(run.path).replies(questions)
    return [(one_line(question), one_line(answer)) for question, answer in zip(questions, answers)]


def question_text(tokenizer, ids):
    """Decodes the token ids of a question; each turn becomes a line."""
    turns = np.split(ids, np.flatnonzero(ids == tokenizer.separator_id)) if tokenizer.separator_id else [ids]
    return BETWEEN.join(tokenizer.decode(turns))


def one_line(text):
    """Joins the lines of a text with " / "."""
    return " / ".join(text.splitlines())
