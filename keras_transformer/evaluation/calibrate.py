"""Calibration of a run: the scores of its answers to unseen questions."""

import os
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np

from keras_transformer.chat.answering import GENERATE
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.chat.confidence import Confidence, decoding_settings
from keras_transformer.decoding.config import Strategy
from keras_transformer.errors import InputError
from keras_transformer.evaluation.out_of_domain import invented
from keras_transformer.runs.run import WEIGHTS, Run
from keras_transformer.runs.tensor_file import tensors_checksum

MOST = 2000  # Maximum number of questions. The standard error of a rate of 5 % is then a tenth of it.
FOREIGN = 500  # Number of questions that out-of-domain questions are made from.


def calibrate(
    run_dir: str | os.PathLike, questions: Iterable[str], strategy: Strategy | None = None,
    answer_by: str | None = None, **settings: Any,
) -> Confidence:  # fmt: skip
    """Calibrates the confidence of a run on unseen in-domain questions, and saves the result in its folder.

    `Confidence.load` accepts the result until the weights change.

    Args:
        run_dir: The run folder.
        questions: Unseen questions, such as those of the validation split, a list of texts. Duplicates are removed; of
            more than 2,000 questions, 2,000 are drawn at random.
        strategy: The decoding strategy, as for `generate`.
        answer_by: The way of answering, as for `Chatbot.reply`.
        **settings: Further settings of `generate`, such as `max_length`.

    Returns:
        The `Confidence`.

    Raises:
        InputError: If the run cannot be read, or there are no questions.
    """
    run = Run(run_dir)
    weights = tensors_checksum(run.path / WEIGHTS)  # Read first, to detect a training in the meantime.
    unique_questions = different(questions)
    if not unique_questions:
        raise InputError("there is no question to calibrate on")
    bot = Chatbot.load(run_dir)
    way = bot.way(answer_by, strategy, settings=settings)
    recorded_settings = {"answer_by": way}
    if way == GENERATE:
        recorded_settings = decoding_settings(run.config.max_length - 1, strategy, **settings)
    settings = {**settings, "strategy": strategy, "answer_by": way}
    invented_questions = invented(drawn(unique_questions, FOREIGN))
    foreign = {kind: numbers(bot, texts, **settings) for kind, texts in invented_questions.items()}
    own = numbers(bot, drawn(unique_questions, MOST), **settings)
    confidence = Confidence(own, foreign, recorded_settings, weights)
    confidence.save(run)
    return confidence


def numbers(bot, questions, strategy=None, answer_by=GENERATE, **settings):
    """Returns the pair that a `Confidence` judges for each question: its answer's score, its pieces per character."""
    if answer_by == GENERATE:
        scores = [score for [(_, score)] in bot.n_best(questions, 1, strategy, **settings)]
    else:
        scores = [near[0].similarity if near else 0.0 for near in bot.matches(questions)]
    return tuple(zip(scores, bot.pieces(questions)))


def different(questions):
    """Returns the questions without duplicates and blank ones, compared as the frozen split does."""
    return list(dict.fromkeys(filter(None, (unicodedata.normalize("NFC", text.strip()) for text in questions))))


def drawn(questions, most):
    """Returns at most `most` of the questions, drawn at random with a fixed seed."""
    if len(questions) <= most:
        return questions
    return [questions[i] for i in np.sort(np.random.default_rng(0).choice(len(questions), most, replace=False))]
