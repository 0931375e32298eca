"""Evaluation of a run: scores of its own answers, and its likelihood of the reference answers."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from keras_transformer.chat.answering import GENERATE
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.data.loading import check_pairs
from keras_transformer.data.split import canonical
from keras_transformer.decoding.config import GenerationConfig, Strategy, chosen_generation
from keras_transformer.errors import InputError
from keras_transformer.evaluation import text_metrics
from keras_transformer.evaluation.bootstrap import intervals
from keras_transformer.evaluation.leakage import warn_of_leakage
from keras_transformer.evaluation.perplexity import likelihood
from keras_transformer.language import translate as _
from keras_transformer.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """The questions, answers and scores of a run.

    Attributes:
        references: Dictionary from each distinct question to its reference answers, a list of texts.
        answers: The run's answers, in the same order.
        scores: Dictionary from names to `Score`s.
        leaked: Number of the questions that are in the run's training data; None if its corpus was not found.
        answer_by: The answering mode: "generate", "retrieve" or "hybrid".
    """

    references: dict
    answers: list
    scores: dict
    leaked: int | None
    answer_by: str = GENERATE

    @property
    def distinct(self):
        """Dictionary of the shares of distinct words and word pairs. These are not sums, so they are not `Score`s."""
        return {f"distinct_{n}": text_metrics.distinct(self.answers, n) for n in (1, 2)}

    @property
    def signatures(self):
        """Dictionary from the names of scores to their sacreBLEU signatures."""
        return {name: score.signature for name, score in self.scores.items() if score.signature}

    def to_dict(self):
        """Returns the dictionary that `evaluate` returns."""
        return {
            "copied": None,
            **{name: score.value for name, score in self.scores.items()},
            **self.distinct,
            "intervals": intervals(self.scores),
            "signatures": self.signatures,
            "questions": len(self.references),
            "pairs": sum(map(len, self.references.values())),
            "leaked": self.leaked,
            "answer_by": self.answer_by,
        }


def evaluate(
    run_dir: str | os.PathLike,
    pairs: pd.DataFrame,
    strategy: Strategy | None = None,
    training_answers: Iterable[str] | None = None,
    answer_by: str | None = None,
    generation: GenerationConfig | None = None,
) -> dict:
    """Evaluates a run on unseen pairs.

    The scored answers are those that a user would get, generated autoregressively or retrieved. Each different
    question is asked once, and all of its answers are references.

    Args:
        run_dir: The run folder.
        pairs: DataFrame with the columns "question" and "answer".
        strategy: The decoding strategy, short for `generation=GenerationConfig(strategy)`.
        training_answers: The answers that the run was trained on, to compute the share of copied answers.
        answer_by: "generate", "retrieve" or "hybrid"; None for the run's default, or to generate if `strategy` or
            `generation` is given.
        generation: The `GenerationConfig`. If it asks for several answers, the first is scored.

    Returns:
        A dictionary with these keys. Of the references: "loss" (nats per token), "perplexity" and "bits_per_char". Of
        the answers: "chrf" and "bleu" (0 to 100), "exact_match" (a share), "word_error_rate", "distinct_1" and
        "distinct_2" (shares of distinct words and word pairs), "answer_length" (characters), and "copied" (the share
        found in `training_answers`, None without them). "intervals": the 95 % bounds of all of these scores except the
        distinct ones, which are biased by resampling, because a question drawn twice lowers them. "signatures" of
        sacreBLEU. "questions" and "pairs": their numbers. "leaked": the number of questions in the training data,
        with a `CorpusWarning` if there are any; None if the run's corpus was not found.
        "answer_by": the answering mode.

    Raises:
        InputError: If a package of the extra "evaluate" is missing, the run cannot be read or has no datastore to
            retrieve from, there are no pairs, or both `strategy` and `generation` are given.
    """
    return evaluation(run_dir, pairs, training_answers, answer_by, chosen_generation(strategy, generation)).to_dict()


def evaluation(
    run_dir: str | os.PathLike,
    pairs: pd.DataFrame,
    training_answers: Iterable[str] | None = None,
    answer_by: str | None = None,
    generation: GenerationConfig | None = None,
) -> Evaluation:
    """Returns the `Evaluation` that `evaluate` converts to a dictionary; arguments and errors are the same."""
    text_metrics.check_packages()
    references = answers_by_question(check_pairs(pairs))
    if not references:
        raise InputError(_("there are no pairs to evaluate on"))
    leaked = warn_of_leakage(Run(run_dir), pairs)
    bot = Chatbot.load(run_dir)
    way = bot.way(answer_by, generation=generation)
    answers = bot.replies(list(references), answer_by=answer_by, generation=generation)
    scores = likelihood(bot, references).scores() | scores_of(answers, list(references.values()), training_answers)
    return Evaluation(references, answers, scores, leaked, way)


def scores_of(answers, references, training_answers=None):
    """Returns the `Score`s of answers, a dictionary from their names.

    Args:
        answers: The answers, a list of texts.
        references: For each answer, a list of reference texts.
        training_answers: The answers of the training split; None to omit the share of copied answers.
    """
    scores = {
        "chrf": text_metrics.chrf(answers, references),
        "bleu": text_metrics.bleu(answers, references),
        "exact_match": text_metrics.exact_match(answers, references),
        "word_error_rate": text_metrics.word_error_rate(answers, references),
        "answer_length": text_metrics.answer_length(answers),
    }
    if training_answers is not None:
        scores["copied"] = text_metrics.copied(answers, training_answers)
    return scores


def answers_by_question(pairs):
    """Returns a dictionary from each distinct question, as defined by the frozen split, to a list of its answers."""
    references = {}
    for question, answer in zip(pairs["question"], pairs["answer"]):
        references.setdefault(canonical(question), []).append(answer)
    return references
