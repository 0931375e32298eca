"""The calibration of a run: how it scores its own answers to questions that it never met."""

import unicodedata

import numpy as np

from keras_transformer.chat.answering import GENERATE
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.chat.confidence import Confidence, decoding_settings
from keras_transformer.errors import InputError
from keras_transformer.evaluation.out_of_domain import invented
from keras_transformer.runs.run import WEIGHTS, Run
from keras_transformer.runs.tensor_file import tensors_checksum

MOST = 2000  # Questions that are asked at most: a rate of 5 % is off by a tenth of itself then, in one of three cases.
FOREIGN = 500  # Of them, foreign ones are made.


def calibrate(run_dir, questions, strategy=None, answer_by=None, **settings):
    """Asks a run questions of its own kind, and notes in its folder how it scores its answers.

    What is noted serves `Confidence.load` until the weights change.

    Args:
        run_dir: The run folder.
        questions: Questions that training never met, such as those of the validation part, texts; each different one is
            asked once, and of more than 2,000 as many drawn evenly.
        strategy: How answers are chosen, as for `generate`.
        answer_by: In which way they are made, as for `Chatbot.reply`.
        **settings: Of `generate`, such as `max_length`.

    Returns:
        The `Confidence`.

    Raises:
        InputError: If the run cannot be read, or there is no question.
    """
    run = Run(run_dir)
    weights = tensors_checksum(run.path / WEIGHTS)  # First, so that a training meanwhile is noticed.
    asked = different(questions)
    if not asked:
        raise InputError("there is no question to calibrate on")
    bot = Chatbot.load(run_dir)
    way = bot.way(answer_by, strategy, settings=settings)
    how = {"answer_by": way}
    if way == GENERATE:
        how = decoding_settings(run.config.max_length - 1, strategy, **settings)
    settings = {**settings, "strategy": strategy, "answer_by": way}
    foreign = {kind: numbers(bot, texts, **settings) for kind, texts in invented(drawn(asked, FOREIGN)).items()}
    found = Confidence(numbers(bot, drawn(asked, MOST), **settings), foreign, how, weights)
    found.save(run)
    return found


def numbers(bot, questions, strategy=None, answer_by=GENERATE, **settings):
    """What a `Confidence` judges by, for each question a pair: its answer's score, and its pieces a character."""
    if answer_by == GENERATE:
        scores = [score for [(_, score)] in bot.n_best(questions, 1, strategy, **settings)]
    else:
        scores = [near[0].similarity if near else 0.0 for near in bot.matches(questions)]
    return tuple(zip(scores, bot.pieces(questions)))


def different(questions):
    """Each different question once, compared as the frozen split does, none of them blank."""
    return list(dict.fromkeys(filter(None, (unicodedata.normalize("NFC", text.strip()) for text in questions))))


def drawn(questions, most):
    """So many of the questions at most, drawn evenly, the same at every call."""
    if len(questions) <= most:
        return questions
    return [questions[i] for i in np.sort(np.random.default_rng(0).choice(len(questions), most, replace=False))]
