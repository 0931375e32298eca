"""Calibration of a run: the scores of its answers to unseen questions."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from keras_transformer.chat.answering import GENERATE
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.chat.confidence import Confidence, decoding_settings
from keras_transformer.data.split import canonical
from keras_transformer.decoding.config import GenerationConfig, Strategy, chosen_generation
from keras_transformer.errors import InputError
from keras_transformer.evaluation.out_of_domain import make_out_of_domain
from keras_transformer.language import translate as _
from keras_transformer.runs.run import WEIGHTS, Run
from keras_transformer.runs.tensor_file import tensors_checksum

MAX_QUESTIONS = 2000  # Maximum number of questions. The standard error of a rate of 5 % is then 0.5 %.
NUM_OUT_OF_DOMAIN = 500  # Number of in-domain questions from which out-of-domain questions are created.


def calibrate(
    run_dir: str | os.PathLike,
    questions: Iterable[str],
    strategy: Strategy | None = None,
    answer_by: str | None = None,
    generation: GenerationConfig | None = None,
) -> Confidence:
    """Calibrates the confidence of a run on unseen in-domain questions, and saves the result in its folder.

    `Confidence.load` accepts the result until the weights change.

    Args:
        run_dir: The run folder.
        questions: Unseen questions, such as those of the validation split, a list of texts. Duplicates are removed; of
            more than 2,000 questions, 2,000 are drawn at random.
        strategy: The decoding strategy, short for `generation=GenerationConfig(strategy)`.
        answer_by: The answering mode, as for `Chatbot.reply`.
        generation: The `GenerationConfig`. If it asks for several answers, the scores are those of the first.

    Returns:
        The `Confidence`.

    Raises:
        InputError: If the run cannot be read, there are no questions, or both `strategy` and `generation` are given.
    """
    generation = chosen_generation(strategy, generation)
    run = Run(run_dir)
    weights = tensors_checksum(run.path / WEIGHTS)  # Read first, to detect a training in the meantime.
    unique_questions = without_duplicates(questions)
    if not unique_questions:
        raise InputError(_("there is no question to calibrate on"))
    bot = Chatbot.load(run_dir)
    way = bot.way(answer_by, generation=generation)
    recorded_settings = {"answer_by": way}
    if way == GENERATE:
        recorded_settings = decoding_settings(generation, run.config.max_length - 1)
    invented = make_out_of_domain(draw(unique_questions, NUM_OUT_OF_DOMAIN))
    out_of_domain = {kind: scores_and_pieces(bot, texts, way, generation) for kind, texts in invented.items()}
    in_domain = scores_and_pieces(bot, draw(unique_questions, MAX_QUESTIONS), way, generation)
    confidence = Confidence(in_domain, out_of_domain, recorded_settings, weights)
    confidence.save(run)
    return confidence


def scores_and_pieces(bot, questions, answer_by=GENERATE, generation=None):
    """Returns the answer's score and the pieces per character of each question, as in `Confidence.in_domain`."""
    if answer_by == GENERATE:
        generation = (generation or GenerationConfig()).of_one_answer()
        scores = [score for [(_, score)] in bot.n_best(questions, generation)]
    else:
        scores = [near[0].similarity if near else 0.0 for near in bot.matches(questions, generation)]
    return tuple(zip(scores, bot.pieces(questions)))


def without_duplicates(questions):
    """Returns the questions without duplicates and blank ones. Duplicates are detected as in the frozen split."""
    return list(dict.fromkeys(filter(None, map(canonical, questions))))


def draw(questions, most):
    """Returns at most `most` of the questions, drawn at random with a fixed seed."""
    if len(questions) <= most:
        return questions
    return [questions[i] for i in np.sort(np.random.default_rng(0).choice(len(questions), most, replace=False))]
