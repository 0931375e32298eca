"""The evaluation of a run: what it answers by itself, and how likely it thinks the answers that were given."""

import dataclasses

from keras_transformer.chat.answering import GENERATE
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.data.loading import check_pairs
from keras_transformer.data.split import canonical
from keras_transformer.errors import InputError
from keras_transformer.evaluation import text_metrics
from keras_transformer.evaluation.bootstrap import intervals
from keras_transformer.evaluation.leakage import warn_of_met
from keras_transformer.evaluation.perplexity import likelihood
from keras_transformer.runs.run import Run


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What a run was asked, what it answered, and what that is worth.

    Attributes:
        asked: Dictionary from each different question to all of its answers in the corpus.
        answers: The run's own, in the same order.
        scores: Dictionary from names to `Score`s.
        met: How many of the questions stand in the training part of the run's corpus; None if that is not found.
        answer_by: How the run answered: "generate", "retrieve" or "hybrid".
    """

    asked: dict
    answers: list
    text_metrics: dict
    met: int | None
    answer_by: str = GENERATE

    @property
    def distinct(self):
        """Shares of different words and pairs of words, which add up to no `Score`, by their names."""
        return {f"distinct_{n}": text_metrics.distinct(self.answers, n) for n in (1, 2)}

    @property
    def signatures(self):
        """Those of sacreBLEU, by the scores' names."""
        return {name: score.signature for name, score in self.scores.items() if score.signature}

    def to_dict(self):
        """What `evaluate` returns."""
        return {
            "copied": None,
            **{name: score.value for name, score in self.scores.items()},
            **self.distinct,
            "intervals": intervals(self.scores),
            "signatures": self.signatures,
            "questions": len(self.asked),
            "pairs": sum(map(len, self.asked.values())),
            "met": self.met,
            "answer_by": self.answer_by,
        }


def evaluate(run_dir, pairs, strategy=None, training_answers=None, answer_by=None, **settings):
    """Measures a run on pairs that it should not have met in training.

    The answers that are scored are those that a user would get: each token is chosen after those that the model chose
    before it. Each different question is asked once, and all answers that it has are references.

    Args:
        run_dir: The run folder.
        pairs: DataFrame with the columns "question" and "answer".
        strategy: How answers are chosen, as for `generate`.
        training_answers: The answers that the run was trained on, to tell how many are repeated from there.
        answer_by: "generate", "retrieve" or "hybrid"; None for the run's own way, or to generate if `strategy` or
            `settings` say how.
        **settings: Of `generate`, such as `max_length`.

    Returns:
        A dictionary: of the references "loss" (nats a token), "perplexity" and "bits_per_char"; of the answers "chrf"
        and "bleu" (0 to 100), "exact_match" (a share), "word_error_rate", "distinct_1" and "distinct_2" (shares of
        different words and pairs of words), "answer_length" (characters), "copied" (the share that stands among
        `training_answers`, None without them); "intervals" with the 95 % bounds of all of these but the distinct ones,
        which fall where a question is drawn twice; "signatures" of sacreBLEU; the numbers of "questions" and "pairs",
        and of the questions that training has "met", None if the run's corpus is not found (a `CorpusWarning` says so,
        too); in "answer_by" how the run answered.

    Raises:
        InputError: If a package of the extra "evaluate" is missing, the run cannot be read or has no datastore to
            retrieve from, or there is no pair.
    """
    return evaluation(run_dir, pairs, strategy, training_answers, answer_by, **settings).to_dict()


def evaluation(run_dir, pairs, strategy=None, training_answers=None, answer_by=None, **settings):
    """The `Evaluation` that `evaluate` makes a dictionary of; it takes and raises the same."""
    text_metrics.check_packages()
    asked = answers_by_question(check_pairs(pairs))
    if not asked:
        raise InputError("there is no pair to evaluate on")
    met = warn_of_met(Run(run_dir), pairs)
    bot = Chatbot.load(run_dir)
    way = bot.way(answer_by, strategy, settings=settings)
    answers = bot.replies(list(asked), strategy, answer_by=answer_by, **settings)
    found = likelihood(bot, asked).scores() | scores_of(answers, list(asked.values()), training_answers)
    return Evaluation(asked, answers, found, met, way)


def scores_of(answers, references, training_answers=None):
    """The `Score`s of answers by their names; `references` holds the answers that would have been right, lists."""
    found = {
        "chrf": text_metrics.chrf(answers, references),
        "bleu": text_metrics.bleu(answers, references),
        "exact_match": text_metrics.exact_match(answers, references),
        "word_error_rate": text_metrics.word_error_rate(answers, references),
        "answer_length": text_metrics.answer_length(answers),
    }
    if training_answers is not None:
        found["copied"] = text_metrics.copied(answers, training_answers)
    return found


def answers_by_question(pairs):
    """Dictionary from each different question, compared as the frozen split does, to its answers."""
    asked = {}
    for question, answer in zip(pairs["question"], pairs["answer"]):
        asked.setdefault(canonical(question), []).append(answer)
    return asked
