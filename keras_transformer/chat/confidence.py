"""How sure a run is of an answer, and what is said instead of those that it is not sure of enough.

Two numbers tell it. One is the score of the answer. Of a generated one it is the log-probability of the whole, in nats,
which every export has too; divided by the answer's length it told no better what a run cannot know. Where a run
answers from its datastore, it is the similarity of the nearest known question. The score sees what comes out. A run
that answers everything alike is as sure of that; so the other is the question's: into how many pieces a character it is
cut, which are few for what the tokenizer's corpus is like.

Beside those of questions of the run's own kind, which `calibrate` keeps in its folder, each becomes a share: a
conformal p-value (Vovk et al. 2005). Refusing where one of the two is at most 0.025 refuses on average at most 5 % of
such questions, whatever the numbers are like (Bonferroni).
"""

import dataclasses
import json

import numpy as np

from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.decoding.samplers import described
from keras_transformer.errors import InputError
from keras_transformer.runs.atomic_io import write_json
from keras_transformer.runs.run import CONFIDENCE, WEIGHTS, Run
from keras_transformer.runs.tensor_file import tensors_checksum

FORMAT = 1  # Of confidence.json; raised when an older reader could no longer make sense of it.
STORED = ("own", "foreign", "settings", "weights")
GENERATE = "generate"  # As in `chat.answering`, which stands beside this.
REFUSALS = 0.05  # Of questions that could have been answered, where nothing else is said.


@dataclasses.dataclass(frozen=True)
class Confidence:
    """What a calibration has found.

    Attributes:
        own: For each question of the run's own kind a pair: the score of its answer, and into how many pieces a
            character it is cut.
        foreign: The same of invented questions that nobody can answer, a dictionary from their kinds.
        settings: How the answers were chosen, as `decoding_settings` says it; {"answer_by": …} where they come from
            the datastore.
        weights: Checksum of the weights that chose them.
        scores: The scores of `own`, ascending, an array.
        pieces: Its pieces a character, likewise.
    """

    own: tuple
    foreign: dict
    settings: dict
    weights: str
    scores: np.ndarray = dataclasses.field(init=False, repr=False, compare=False)
    pieces: np.ndarray = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self):
        for name, column in zip(("scores", "pieces"), np.sort(np.array(self.own, float).reshape(-1, 2), axis=0).T):
            object.__setattr__(self, name, column)

    @property
    def answer_by(self):
        """In which way the answers were made that it was calibrated for: "generate", "retrieve" or "hybrid"."""
        return self.settings.get("answer_by", GENERATE)

    @classmethod
    def load(cls, run_dir, strategy=None, answer_by=None, **settings):
        """What `calibrate` found of a run, for answers made in that way.

        Args:
            run_dir: The run folder.
            strategy: How answers will be chosen, as for `generate`.
            answer_by: "generate", "retrieve" or "hybrid"; None for what it was calibrated for, or to generate if a
                strategy or settings are given.
            **settings: Of `generate`, likewise.

        Raises:
            InputError: If the run is not calibrated, or was trained on since, or calibrated for other answers.
        """
        run = Run(run_dir)
        found = cls.of_run(run)
        if answer_by is None and strategy is None and all(value is None for value in settings.values()):
            answer_by = found.answer_by
        if answer_by in (None, GENERATE):
            wanted = decoding_settings(run.config.max_length - 1, strategy, **settings)
        else:
            wanted = {"answer_by": answer_by}
        if found.settings != wanted:
            way = "" if found.answer_by == (answer_by or GENERATE) else f" --answer-by {answer_by or GENERATE}"
            raise InputError(
                f"{run.path / CONFIDENCE}: calibrated for {in_words(found.settings)}, not for {in_words(wanted)}: "
                f"calibrate again with the same options: keras-transformer calibrate {run.path}{way} …"
            )
        return found

    @classmethod
    def of_run(cls, run):
        """What was found of a `Run`, however its answers were chosen; raises `InputError` like `load`."""
        path, command = run.path / CONFIDENCE, f"keras-transformer calibrate {run.path}"
        if not path.is_file():
            raise InputError(f"{run.path}: not calibrated, so that no confidence is known: first {command}")
        found = read(path)
        if found.weights != tensors_checksum(run.path / WEIGHTS):
            raise InputError(f"{path}: the run was trained on since: calibrate again: {command}")
        return found

    def save(self, run):
        """Writes it into the folder of a `Run`, atomically."""
        write_json(run.path / CONFIDENCE, {"format": FORMAT, **{name: getattr(self, name) for name in STORED}})

    def of(self, score, pieces):
        """The confidence of an answer: twice its `share`, but at most 1.

        Args:
            score: The answer's score, or an array of such.
            pieces: Into how many pieces a character its question is cut, likewise.
        """
        return np.minimum(1, 2 * self.share(score, pieces))

    def share(self, score, pieces):
        """The smaller of two shares, of answers that score no higher and of questions that are cut no less finely.

        They are those of its own kind, the answer itself counted among them; arguments are those of `of`.
        """
        no_higher = np.searchsorted(self.scores, score, side="right")
        as_fine = len(self.pieces) - np.searchsorted(self.pieces, pieces, side="left")
        return (1 + np.minimum(no_higher, as_fine)) / (len(self.own) + 1)

    def bounds(self, refusals):
        """What is refused: where the confidence is at most `refusals`, which is beyond one of two bounds.

        Args:
            refusals: The rate of wrong refusals: the share of answerable questions that may be refused.

        Returns:
            The score below which an answer is refused, and the pieces a character above which a question is.

        Raises:
            InputError: If the rate is not between 0 and 1, or too small for so few questions to tell.
        """
        count = len(self.own)
        if not 0 < refusals < 1:
            raise InputError(f"a rate of wrong refusals must be above 0 and below 1, such as 0.05, not {refusals:g}")
        refused = np.searchsorted(2 * np.arange(1, count + 1) / (count + 1), refusals, side="right")
        if not refused:
            raise InputError(
                f"a rate of wrong refusals of {refusals:g} cannot be told from {count} questions: "
                f"it must be at least {2 / (count + 1):.2g}, or calibrated on more"
            )
        return float(self.scores[refused - 1]), float(self.pieces[-refused])

    def fallback(self, text, refusals=REFUSALS):
        """The `Fallback` to a text at a rate of wrong refusals; raises `InputError` like `bounds`."""
        return Fallback(text, refusals, self)


@dataclasses.dataclass(frozen=True)
class Fallback:
    """What is said instead of answers that the run is not sure of.

    Attributes:
        text: It.
        refusals: The share of answerable questions that may be refused.
        confidence: The `Confidence` that tells it.
        least_score: The score below which answers are refused.
        most_pieces: The pieces a character above which questions are.

    Raises:
        InputError: If the text is not one line of Unicode, or like `Confidence.bounds`.
    """

    text: str
    refusals: float
    confidence: Confidence
    least_score: float = dataclasses.field(init=False)
    most_pieces: float = dataclasses.field(init=False)

    def __post_init__(self):
        if len(self.text.splitlines()) > 1 or self.text.endswith("\n"):
            raise InputError(f"a fallback must be one line, not {self.text!r}")
        for name, bound in zip(("least_score", "most_pieces"), self.confidence.bounds(self.refusals)):
            object.__setattr__(self, name, bound)

    def refuses(self, score, pieces):
        """Whether an answer of that score, to a question of so many pieces a character, is refused."""
        return score < self.least_score or pieces > self.most_pieces

    def instead_of(self, answer, score, pieces):
        """What is said: the answer, or the text if it is refused."""
        return self.text if self.refuses(score, pieces) else answer

    @property
    def by_similarity(self):
        """Whether it judges by the nearest known question, instead of by how likely an answer is."""
        return self.confidence.answer_by != GENERATE

    def judges(self, answer, pieces):
        """Whether an `Answer` is judged: not what is known word for word, nor what a generating run was taught.

        Nothing is like a blank question, which is not judged by that.
        """
        return pieces > 0 and answer.similarity < 1 if self.by_similarity else answer.composed

    def score_of(self, answer):
        """The score of an `Answer` that it is judged by."""
        return answer.similarity if self.by_similarity else answer.score

    def said(self, answer, pieces):
        """What is said for an `Answer`: it, or the text if it is refused."""
        if not self.judges(answer, pieces):
            return answer.text
        return self.instead_of(answer.text, self.score_of(answer), pieces)

    def to_dict(self):
        """What an export says of it."""
        names = "text", "refusals", "least_score", "most_pieces"
        return {**{name: getattr(self, name) for name in names}, "calibrated_on": len(self.confidence.own)}


def pieces_a_character(question, ids):
    """Into how many pieces a character a question is cut: a float, 0 for a blank one.

    Args:
        question: Its text as it was asked.
        ids: What the encoder reads of it: start, pieces, end; nothing of a blank one.
    """
    return (len(ids) - 2) / len(question) if ids else 0.0


def read(path):
    """The `Confidence` in a file; raises `InputError` if it is damaged or of another version."""
    try:
        about = json.loads(path.read_text("utf-8"))
        version = about.pop("format")
        if version == FORMAT:
            foreign = {kind: paired(numbers) for kind, numbers in about.pop("foreign").items()}
            return Confidence(paired(about.pop("own")), foreign, **about)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path}: damaged: {error}") from error
    raise InputError(f"{path}: of format {version}; this version reads format {FORMAT}")


def paired(numbers):
    """Lists of two numbers as pairs; raises `ValueError` if they are none."""
    pairs = tuple((float(score), float(pieces)) for score, pieces in numbers)
    if not pairs:
        raise ValueError("it holds no questions")
    return pairs


def decoding_settings(longest, strategy=None, max_length=None, **rules):
    """How answers are chosen, as JSON can hold it, with all that is not said filled in.

    Args:
        longest: Tokens of an answer at most, where nothing else is said.
        strategy: The strategy; None for greedy.
        max_length: Tokens of an answer at most.
        **rules: Further settings of `generate`.
    """
    config = GenerationConfig(0, 0, longest if max_length is None else max_length, strategy=strategy, **rules)
    names = ("max_length", "min_length", "repetition_penalty", "no_repeat_ngram")
    settings = {name: getattr(config, name) for name in names}
    return {"strategy": described(config.strategy), **settings, "forbidden_ids": list(config.forbidden_ids)}


def in_words(settings):
    """Those settings for people."""
    if "answer_by" in settings:
        return f"answers by {settings['answer_by']}"
    strategy, *rules = settings.items()
    said = [*strategy[1].items(), *((name, value) for name, value in rules if value)]
    return ", ".join(str(value) if name == "kind" else f"{name} {value}" for name, value in said)
