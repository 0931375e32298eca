"""What clients send and get: it is checked by these models, and described by them in /docs."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from keras_transformer.chat.answering import GENERATE, RETRIEVE, WAYS
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.samplers import Greedy, Sampling
from keras_transformer.serving.engine import Settings

MAX_CHARACTERS = 10_000
MAX_QUESTIONS = 100
MAX_ANSWERS = 16
BEAMS = 4  # Of a search that does not say how many, or more where more answers are wanted.
LARGEST = 2**31 - 1
RULES = {"max_length", "min_length", "repetition_penalty", "no_repeat_ngram"}


class Message(BaseModel):
    """Unknown fields are refused, and nothing is taken for what it is not, such as "2" for 2."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


Question = Annotated[
    str, Field(max_length=MAX_CHARACTERS, description="A question; of a run that reads several turns, a turn a line.")
]

FROM_FLOAT = BeforeValidator(lambda x: int(x) if isinstance(x, float) and x.is_integer() else x)
Whole = Annotated[int, FROM_FLOAT]
"""A whole number, as JSON has it: 2.0 is one."""

Questions = Annotated[
    Annotated[Question, Tag("<text>")]
    | Annotated[list[Question], Field(min_length=1, max_length=MAX_QUESTIONS), Tag("<list>")],
    Discriminator(
        lambda value: {str: "<text>", list: "<list>"}.get(type(value)),
        custom_error_type="questions", custom_error_message="Input should be a question or a list of questions",
    ),
]  # fmt: skip


class GreedyStrategy(Message):
    """The likeliest token at every step."""

    kind: Literal["greedy"]

    def strategy(self):
        return Greedy()


class BeamStrategy(Message):
    """The likeliest answers, found by keeping several unfinished ones."""

    kind: Literal["beam"]
    num_beams: Whole = Field(BEAMS, ge=1, le=MAX_ANSWERS, description="Unfinished answers that are kept.")
    length_penalty: float = Field(0.6, ge=0, le=10, description="0 prefers short answers; more, longer ones.")

    def strategy(self):
        return Beam(self.num_beams, self.length_penalty)


class SampleStrategy(Message):
    """Each token is drawn by its probability."""

    kind: Literal["sample"]
    temperature: float = Field(1.0, ge=0.01, le=100, description="Below 1 is more cautious.")
    top_k: Whole = Field(0, ge=0, le=LARGEST, description="Draw from so many likeliest tokens only; 0 for all.")
    top_p: float = Field(1.0, gt=0, le=1, description="Draw from the likeliest that together reach this only.")
    seed: Annotated[int, Field(ge=0, le=LARGEST), FROM_FLOAT] | None = Field(
        None, description="The same seed draws the same answers."
    )

    def strategy(self):
        return Sampling(self.temperature, self.top_k, self.top_p, self.seed)


class GenerationParams(Message):
    """How answers are chosen, which every request can say."""

    strategy: Annotated[GreedyStrategy | BeamStrategy | SampleStrategy, Field(discriminator="kind")] | None = Field(
        None, description="Of generated answers. Greedy by default; where several are wanted, a beam search."
    )
    answer_by: Literal[WAYS] | None = Field(
        None,
        description="Generate an answer, retrieve that of the nearest known question, or both (hybrid). By default as "
        "the run does; with a strategy, other settings of decoding, several answers or attention: generate.",
    )
    max_length: Annotated[int, Field(ge=1, le=LARGEST), FROM_FLOAT] | None = Field(
        None, description="Tokens of an answer at most; by default, and at most, those of the run."
    )
    min_length: Whole = Field(0, ge=0, le=LARGEST, description="Tokens before an answer may end.")
    repetition_penalty: float = Field(1.0, ge=1, le=100, description="Above 1, what was said becomes less likely.")
    no_repeat_ngram: Whole = Field(0, ge=0, le=100, description="No run of so many tokens comes twice; 0 for no rule.")

    def settings(self, num_return=1, attention=False):
        """The same as `Settings`."""
        default = None if num_return == 1 else Beam(max(BEAMS, num_return))
        strategy = self.strategy.strategy() if self.strategy else default
        rules = self.model_dump(include=RULES, exclude_defaults=True)
        return Settings(strategy, num_return, tuple(sorted(rules.items())), attention, self.answer_by)


class AnswerRequest(GenerationParams):
    """Questions, and how they are to be answered."""

    questions: Questions = Field(description="A question or a list of them.", examples=["안녕하세요"])
    n_best: Whole = Field(1, ge=1, le=MAX_ANSWERS, description="Answers to each question.")
    attention: bool = Field(False, description="Whether to tell what the tokens of each first answer attended to.")


class StreamRequest(GenerationParams):
    """A question, and how it is to be answered."""

    question: Question = Field(examples=["안녕하세요"])


class Source(Message):
    """A known exchange whose question is near to the one asked."""

    question: str
    answer: str
    file: str | None = Field(description="The file that it was read from; null if it was made in memory.")
    row: int | None
    similarity: float = Field(description="Of the two questions, from 0 to 1.")


class Answer(Message):
    """An answer."""

    answer: str
    score: float | None = Field(
        description="Its log-probability in nats, summed over its tokens; null if it was retrieved."
    )
    answered_by: Literal[GENERATE, RETRIEVE]
    sources: list[Source] = Field(description="Those of a retrieved answer; else the nearest. Nearest first.")


class Attention(Message):
    """What the tokens of an answer attended to in the question."""

    question: list[str] = Field(description="What was read: the pieces of the question, between start and end.")
    answer: list[str] = Field(description="The pieces of the answer, the end with them where it was reached.")
    weights: list[list[list[list[float]]]] = Field(
        description="By layer, head, piece of the answer and piece of the question."
    )


class QuestionResult(Message):
    """A question with its answers, the best first."""

    question: str
    answers: list[Answer]
    attention: Attention | None = Field(
        None, description="Of the first answer; missing if it was not asked for, or the question is blank."
    )


class AnswerResponse(Message):
    """The answers, in the order of the questions."""

    answers: list[QuestionResult]


class Fault(Message):
    """What was wrong."""

    message: str


class ErrorResponse(Message):
    """What every error looks like, but for those of /v1/models, which are as TensorFlow Serving's."""

    error: Fault


class Health(Message):
    """Whether questions are answered."""

    status: Literal["ready", "warming up"]
