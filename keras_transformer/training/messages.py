"""What a training says of itself besides its scores: warnings of settings that do not suit it, and sample answers."""

import numpy as np

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.text.turns import BETWEEN
from keras_transformer.training.callbacks import best_row, has_diverged

SAMPLES = 5  # Questions that are answered at the end.
CLEARLY = 0.01  # The least share by which a score that is still improving is better than the best before it.


def warm_up_warning(config, batches):
    """What to say of a warm-up that the training is too short for; None if it is not.

    Args:
        config: The `Config`.
        batches: Batches of the whole training.
    """
    updates = batches // config.accumulate
    if config.warmup_steps <= updates:
        return None
    return (
        f"The warm-up of {config.warmup_steps:,} steps is longer than the training of {updates:,} steps: "
        "the learning rate never reaches its peak. Lower --warmup-steps or raise --epochs."
    )


def epochs_hint(config, rows):
    """What to say of a training whose last epoch improved clearly on a validation score; None if it did not.

    Args:
        config: The `Config`.
        rows: The metrics of all its epochs.
    """
    monitor = config.monitor
    best = best_row(rows, monitor)
    if not monitor.startswith("val_") or not best or best["epoch"] != config.epochs:
        return None
    before = best_row([row for row in rows if row is not best and not has_diverged(row)], monitor)
    if before and abs(best[monitor] - before[monitor]) < CLEARLY * abs(before[monitor]):
        return None
    return "The best epoch was the last one: more --epochs may give better answers."


def sample_answers(run, validation, training):
    """Some questions of the validation, spaced evenly, and what the run's best weights answer.

    Args:
        run: The `Run`.
        validation: The `EncodedPairs` of the validation.
        training: Those of the training, which are taken if there are too few of the validation.

    Returns:
        The lines to print: each question, and below it its answer.
    """
    encoded = validation if len(validation) >= SAMPLES else training
    places = np.linspace(0, len(encoded) - 1, SAMPLES).astype(int)
    questions = list(dict.fromkeys(question_text(run.tokenizer, encoded.question(place)) for place in places))
    answers = Chatbot.load(run.path).replies(questions)
    return [
        line
        for question, answer in zip(questions, answers)
        for line in (one_line(question), f"  -> {one_line(answer)}")
    ]


def question_text(tokenizer, ids):
    """The text of a question's token ids, a line for each turn."""
    turns = np.split(ids, np.flatnonzero(ids == tokenizer.separator_id)) if tokenizer.separator_id else [ids]
    return BETWEEN.join(tokenizer.decode(turns))


def one_line(text):
    """A text with its lines side by side."""
    return " / ".join(text.splitlines())
