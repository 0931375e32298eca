"""The ways in which a run answers: it composes, or it gives the answer of the nearest exchange of its datastore."""

import dataclasses
import json

from keras_transformer.errors import InputError
from keras_transformer.runs.atomic_io import write_json

ANSWERING = "answering.json"
GENERATE, RETRIEVE, HYBRID = WAYS = ("generate", "retrieve", "hybrid")
UNSURE = 0.45  # Below it, a retrieved answer is beside the point more often than not.
TAUGHT_SIMILARITY = 0.8  # From here on, a taught exchange answers a run that composes, too.


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a chatbot answers.

    Attributes:
        text: The answer.
        score: Its summed log-probability in nats, if it was generated; None if it was retrieved.
        sources: The `Match`es behind it, nearest first: its own exchange and then others, if it was retrieved; if it
            was generated, those that are nearest to the question. Empty without a datastore.
    """

    text: str
    score: float | None
    sources: tuple = ()

    @property
    def composed(self):
        """Whether the model composed it, instead of taking it from the datastore."""
        return self.score is not None

    @property
    def similarity(self):
        """That of the nearest known question, from 0 to 1; 0 if none is near at all."""
        return self.sources[0].similarity if self.sources else 0.0

    @property
    def unsure(self):
        """Whether it was retrieved for want of anything nearer."""
        return not self.composed and self.similarity < UNSURE

    @property
    def answered_by(self):
        """How it was made: "generate" or "retrieve"."""
        return GENERATE if self.composed else RETRIEVE

    def to_dict(self):
        """The answer as a dictionary that JSON can hold."""
        return {
            "answer": self.text,
            "score": None if self.score is None else round(self.score, 4),
            "answered_by": self.answered_by,
            "sources": [match.to_dict() for match in self.sources],
        }


@dataclasses.dataclass(frozen=True)
class Answering:
    """How a run answers where nothing else is asked for.

    Attributes:
        way: One of `WAYS`. `hybrid` retrieves where a known question is near enough, and generates elsewhere.
        similarity: From which similarity on `hybrid` retrieves.
        chrf: What each way reached on the validation questions when training ended, a dictionary.
        questions: How many these were.
    """

    way: str = GENERATE
    similarity: float = 0.0
    chrf: dict = dataclasses.field(default_factory=dict)
    questions: int = 0

    @classmethod
    def load(cls, path):
        """That of a run folder; to generate, if its training chose nothing; raises `InputError` if it is damaged."""
        file = path / ANSWERING
        if not file.is_file():
            return cls()
        try:
            loaded = cls(**json.loads(file.read_text("utf-8")))
            return dataclasses.replace(loaded, way=checked_way(loaded.way), similarity=float(loaded.similarity))
        except (ValueError, TypeError, InputError) as error:
            raise InputError(f"{file}: damaged: {error}") from error

    def save(self, path):
        """Writes it into a run folder."""
        write_json(path / ANSWERING, dataclasses.asdict(self))


def checked_way(way):
    """The way of answering; raises `InputError` if there is no such."""
    if way not in WAYS:
        raise InputError(f"there is no way of answering {way!r}; there are {', '.join(WAYS)}")
    return way
