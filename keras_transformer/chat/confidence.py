"""The confidence of answers, and the fallback for answers of low confidence.

Confidence combines two numbers. The first is the score of the answer. For a generated answer, this is the
log-probability of the whole answer in nats, which every export provides; dividing it by the length did not detect
out-of-domain questions better. For a retrieved answer, it is the similarity of the nearest question. The score judges
the output only, and a run that gives the same answer to everything is confident of it. The second number judges the
question: its number of pieces per character, which is low for text like the tokenizer's corpus.

`calibrate` stores both numbers for in-domain questions in the run folder. Compared with these, each number becomes a
conformal p-value (Vovk et al. 2005). Refusing answers where one of the two p-values is at most 0.025 refuses on average
at most 5 % of in-domain questions, whatever the distribution of the numbers (Bonferroni).
"""

from __future__ import annotations

import dataclasses
import math
import os
from typing import Any

import numpy as np

from keras_transformer.chat.answering import GENERATE, RETRIEVE, UNSURE, Answer
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.decoding.samplers import described
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import write_atomically
from keras_transformer.runs.checksums import check, read_sealed, sealed
from keras_transformer.runs.run import CONFIDENCE, CONFIDENCE_KEYS, WEIGHTS, Run
from keras_transformer.runs.tensor_file import tensors_checksum

FORMAT = 1  # Version of confidence.json; increased when older versions could no longer read it.
STORED = {"own": "in_domain", "foreign": "out_of_domain", "settings": "settings", "weights": "weights"}
"""The attributes that confidence.json holds, by their keys there."""

REFUSALS = 0.05  # Default false refusal rate.


@dataclasses.dataclass(frozen=True)
class Confidence:
    """The result of a calibration.

    Attributes:
        in_domain: For each in-domain question, a pair: the score of its answer, and its number of pieces per character.
        out_of_domain: The same for out-of-domain questions, a dictionary from their kinds.
        settings: How the answers were generated, as returned by `decoding_settings`; {"answer_by": …} for answers from
            the datastore.
        weights: Checksum of the weights of the calibrated model.
        scores: The scores of `in_domain`, an array in ascending order.
        pieces: The pieces per character of `in_domain`, an array in ascending order.
    """

    in_domain: tuple[tuple[float, float], ...]
    out_of_domain: dict[str, tuple[tuple[float, float], ...]]
    settings: dict[str, Any]
    weights: str
    scores: np.ndarray = dataclasses.field(init=False, repr=False, compare=False)
    pieces: np.ndarray = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self):
        for name, column in zip(
            ("scores", "pieces"), np.sort(np.array(self.in_domain, float).reshape(-1, 2), axis=0).T
        ):
            object.__setattr__(self, name, column)

    @property
    def answer_by(self) -> str:
        """The way of answering of the calibration: "generate", "retrieve" or "hybrid"."""
        return self.settings.get("answer_by", GENERATE)

    @classmethod
    def load(
        cls,
        run_dir: str | os.PathLike,
        answer_by: str | None = None,
        generation: GenerationConfig | None = None,
    ) -> Confidence:
        """Loads the calibration of a run for a way of answering.

        Args:
            run_dir: The run folder.
            answer_by: "generate", "retrieve" or "hybrid"; None for the way of the calibration, or to generate if
                `generation` is given.
            generation: The `GenerationConfig` of the answers; None for the default.

        Raises:
            InputError: If the run is not calibrated, was trained since, or was calibrated for other settings.
        """
        run = Run(run_dir)
        calibration = cls.of_run(run)
        if answer_by is None and (generation is None or generation.only_words):
            answer_by = calibration.answer_by
        if answer_by in (None, GENERATE):
            requested = decoding_settings(generation, run.config.max_length - 1)
        else:
            requested = {"answer_by": answer_by}
        if calibration.settings != requested:
            way = "" if calibration.answer_by == (answer_by or GENERATE) else f" --answer-by {answer_by or GENERATE}"
            raise InputError(
                _(
                    "{path}: calibrated for {calibrated}, not for "
                    "{requested}: calibrate again with the same options: "
                    "keras-transformer calibrate {run}{way} …",
                    path=run.path / CONFIDENCE,
                    calibrated=in_words(calibration.settings),
                    requested=in_words(requested),
                    run=run.path,
                    way=way,
                )
            )
        return calibration

    @classmethod
    def of_run(cls, run: Run) -> Confidence:
        """Loads the calibration of a `Run` for any way of answering; raises `InputError` like `load`."""
        path, command = run.path / CONFIDENCE, f"keras-transformer calibrate {run.path}"
        if not path.is_file():
            raise InputError(
                _("{run}: the run is not calibrated. Calibrate it first: {command}", run=run.path, command=command)
            )
        calibration = read(path)
        check(run.path / WEIGHTS, run.id)
        if calibration.weights != tensors_checksum(run.path / WEIGHTS):
            raise InputError(
                _(
                    "{path}: the run was trained after its calibration. Calibrate it again: {command}",
                    path=path,
                    command=command,
                )
            )
        return calibration

    def save(self, run: Run) -> None:
        """Saves the calibration in the folder of a `Run`, atomically."""
        about = {"format": FORMAT, **{key: getattr(self, name) for key, name in STORED.items()}}
        write_atomically(run.path / CONFIDENCE, sealed(about))  # Without the lock, as it may be during training.

    def of(self, score: float | np.ndarray, pieces: float | np.ndarray) -> Any:
        """Returns the confidence of an answer: twice its `share`, but at most 1.

        Args:
            score: The score of the answer, or an array of scores.
            pieces: The pieces per character of the question, or an array of the same shape.
        """
        return np.minimum(1, 2 * self.share(score, pieces))

    def share(self, score: float | np.ndarray, pieces: float | np.ndarray) -> Any:
        """Returns the smaller of two conformal p-values.

        They are the shares of in-domain answers that score no higher, and of in-domain questions with no fewer pieces
        per character, both counting the answer itself. Arguments are the same as for `of`.
        """
        no_higher = np.searchsorted(self.scores, score, side="right")
        as_fine = len(self.pieces) - np.searchsorted(self.pieces, pieces, side="left")
        return (1 + np.minimum(no_higher, as_fine)) / (len(self.in_domain) + 1)

    def bounds(self, refusals: float) -> tuple[float, float]:
        """Returns the thresholds beyond which the confidence is at most `refusals`.

        Args:
            refusals: The false refusal rate: the share of answerable questions that may be refused.

        Returns:
            The minimum score of an answer, and the maximum number of pieces per character of a question.

        Raises:
            InputError: If the rate is not between 0 and 1, or too small for the number of questions.
        """
        count = len(self.in_domain)
        if not 0 < refusals < 1:
            raise InputError(
                _("the refusal rate must be between 0 and 1, such as 0.05, not {refusals:g}", refusals=refusals)
            )
        refused = np.searchsorted(2 * np.arange(1, count + 1) / (count + 1), refusals, side="right")
        if not refused:
            raise InputError(
                _(
                    "a refusal rate of {refusals:g} is too small for a calibration on {count} questions: "
                    "choose at least {least:.2g}, or calibrate on more questions",
                    refusals=refusals,
                    count=count,
                    least=2 / (count + 1),
                )
            )
        return float(self.scores[refused - 1]), float(self.pieces[-refused])

    def fallback(self, text: str, refusals: float = REFUSALS) -> Fallback:
        """Returns the `Fallback` with a text and a false refusal rate; raises `InputError` like `bounds`."""
        return Fallback(text, refusals, self)


@dataclasses.dataclass(frozen=True)
class Fallback:
    """A text that replaces answers of low confidence.

    Attributes:
        text: The replacement text.
        refusals: The false refusal rate: the share of answerable questions that may be refused.
        confidence: The `Confidence` of the run; None to refuse retrieved answers that the bot is unsure of, which needs
            no calibration.
        least_score: The score below which answers are refused.
        most_pieces: The number of pieces per character above which questions are refused.

    Raises:
        InputError: If the text is not a single line, or like `Confidence.bounds`.
    """

    text: str
    refusals: float = REFUSALS
    confidence: Confidence | None = None
    least_score: float = dataclasses.field(init=False)
    most_pieces: float = dataclasses.field(init=False)

    def __post_init__(self):
        if len(self.text.splitlines()) > 1 or self.text.endswith("\n"):
            raise InputError(_("the fallback must be a single line, not {text!r}", text=self.text))
        bounds = self.confidence.bounds(self.refusals) if self.confidence else (UNSURE, math.inf)
        for name, bound in zip(("least_score", "most_pieces"), bounds):
            object.__setattr__(self, name, bound)

    def refuses(self, score: float, pieces: float) -> bool:
        """Returns whether to refuse an answer, given its score and the pieces per character of its question."""
        return score < self.least_score or pieces > self.most_pieces

    def instead_of(self, answer: str, score: float, pieces: float) -> str:
        """Returns the answer, or the fallback text if it is refused."""
        return self.text if self.refuses(score, pieces) else answer

    @property
    def answer_by(self) -> str:
        """The way of answering whose answers it judges: "generate", "retrieve" or "hybrid"."""
        return self.confidence.answer_by if self.confidence else RETRIEVE

    @property
    def by_similarity(self) -> bool:
        """Whether answers are judged by the similarity of the nearest question instead of by log-probability."""
        return self.answer_by != GENERATE

    def judges(self, answer: Answer, pieces: float) -> bool:
        """Returns whether an `Answer` is judged.

        Exempt are answers to exactly known questions, taught answers in a generating run, and, if judged by similarity,
        blank questions, to which nothing is similar.
        """
        return pieces > 0 and answer.similarity < 1 if self.by_similarity else answer.composed

    def score_of(self, answer: Answer) -> float | None:
        """Returns the score by which an `Answer` is judged."""
        return answer.similarity if self.by_similarity else answer.score

    def apply(self, answer: Answer, pieces: float) -> str:
        """Returns the text of an `Answer`, or the fallback text if it is refused."""
        score = self.score_of(answer)
        if score is None or not self.judges(answer, pieces):
            return answer.text
        return self.instead_of(answer.text, score, pieces)

    def to_dict(self) -> dict[str, Any]:
        """Returns the fallback as a dictionary for the manifest of an export."""
        names = "text", "refusals", "least_score", "most_pieces"
        count = len(self.confidence.in_domain) if self.confidence else 0
        return {**{name: getattr(self, name) for name in names}, "calibrated_on": count}


def pieces_a_character(question, ids):
    """Returns the number of pieces per character of a question, a float; 0 for a blank question.

    Args:
        question: The text of the question.
        ids: Its encoder input: start, pieces, end; empty for a blank question.
    """
    return (len(ids) - 2) / len(question) if ids else 0.0


def read(path):
    """Reads a `Confidence` from a file; raises `InputError` if it is damaged or of another version."""
    try:
        about = read_sealed(path, CONFIDENCE_KEYS)
        version = about.pop("format")
        if version == FORMAT:
            out_of_domain = {kind: paired(numbers) for kind, numbers in about.pop("foreign").items()}
            return Confidence(paired(about.pop("own")), out_of_domain, **about)
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error
    raise InputError(
        _(
            "{path}: has format {version}, but this version reads format {format}: calibrate the run again",
            path=path,
            version=version,
            format=FORMAT,
        )
    )


def paired(numbers):
    """Returns lists of two numbers as a tuple of pairs; raises `ValueError` if there are none."""
    pairs = tuple((float(score), float(pieces)) for score, pieces in numbers)
    if not pairs:
        raise ValueError("it holds no questions")
    return pairs


def decoding_settings(generation: GenerationConfig | None, longest: int) -> dict:
    """Returns the decoding settings of one answer as confidence.json stores them, with all defaults filled in.

    Args:
        generation: The `GenerationConfig`; None for the default.
        longest: Maximum number of tokens of an answer, if the configuration has none.
    """
    config = (generation or GenerationConfig()).limited_to(longest)
    names = ("max_length", "min_length", "repetition_penalty", "no_repeat_ngram")
    settings = {name: getattr(config, name) for name in names}
    settings |= {"forbidden_ids": list(config.forbidden_ids)}
    words = {"forbidden": list(config.forbidden), "required": list(config.required)}
    settings |= {name: value for name, value in words.items() if value}  # Earlier calibrations have no such keys.
    return {"strategy": described(config.strategy), **settings}


def in_words(settings):
    """Returns the settings as text."""
    if "answer_by" in settings:
        return f"answers by {settings['answer_by']}"
    strategy, *rules = settings.items()
    pairs = [*strategy[1].items(), *((name, value) for name, value in rules if value)]
    return ", ".join(str(value) if name == "kind" else f"{name} {value}" for name, value in pairs)
