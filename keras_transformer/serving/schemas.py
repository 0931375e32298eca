"""The schemas of requests and responses, for validation and for /docs."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from keras_transformer.chat.answering import Way
from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.config import LONGEST, GenerationConfig
from keras_transformer.decoding.samplers import Greedy, Sampling
from keras_transformer.serving.engine import Settings
from keras_transformer.text.normalize import SPACES

MAX_CHARACTERS = 10_000
MAX_QUESTIONS = 100
MAX_ANSWERS = 16
MAX_WORDS, MAX_WORD_CHARACTERS = 20, 50  # Of forbidden words.
BEAMS = 4  # Default number of beams; more if more answers are requested.
LARGEST = 2**31 - 1
LIMITS = {"max_length", "min_length", "repetition_penalty", "no_repeat_ngram", "forbidden"}


class Message(BaseModel):
    """Base class of all schemas. Rejects unknown fields, and converts no types, such as "2" to 2."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


Question = Annotated[
    str, Field(max_length=MAX_CHARACTERS, description="A question; for a multi-turn run, one turn per line.")
]

NOT_BLANK = {"pattern": f"[^{SPACES.strip('[]+')}]"}  # In the description; `GenerationConfig` has a clearer message.
Word = Annotated[str, Field(max_length=MAX_WORD_CHARACTERS, json_schema_extra=NOT_BLANK)]

FROM_FLOAT = BeforeValidator(lambda x: int(x) if isinstance(x, float) and x.is_integer() else x)
Whole = Annotated[int, FROM_FLOAT]
"""An integer in JSON, where 2.0 is an integer, too."""

Questions = Annotated[
    Annotated[Question, Tag("<text>")]
    | Annotated[list[Question], Field(min_length=1, max_length=MAX_QUESTIONS), Tag("<list>")],
    Discriminator(
        lambda value: {str: "<text>", list: "<list>"}.get(type(value)),
        custom_error_type="questions", custom_error_message="Input should be a question or a list of questions",
    ),
]  # fmt: skip


class GreedyStrategy(Message):
    """Greedy decoding: the most likely token at each step."""

    kind: Literal["greedy"]

    def strategy(self):
        return Greedy()


class BeamStrategy(Message):
    """Beam search: the most likely answers among several hypotheses."""

    kind: Literal["beam"]
    num_beams: Whole = Field(BEAMS, ge=1, le=MAX_ANSWERS, description="Number of beams.")
    length_penalty: float = Field(
        0.6, ge=0, le=10, description="Exponent of the length penalty; higher prefers longer answers."
    )

    def strategy(self):
        return Beam(self.num_beams, self.length_penalty)


class SampleStrategy(Message):
    """Sampling: tokens are drawn from the predicted distribution."""

    kind: Literal["sample"]
    temperature: float = Field(1.0, ge=0.01, le=100, description="Sampling temperature; lower is less random.")
    top_k: Whole = Field(0, ge=0, le=LARGEST, description="Sample only from this many most likely tokens; 0 for all.")
    top_p: float = Field(1.0, gt=0, le=1, description="Sample only from the top tokens with this total probability.")
    seed: Annotated[int, Field(ge=0, le=LARGEST), FROM_FLOAT] | None = Field(
        None, description="Random seed for reproducible samples."
    )

    def strategy(self):
        return Sampling(self.temperature, self.top_k, self.top_p, self.seed)


class GenerationParams(Message):
    """The generation parameters of a request."""

    strategy: Annotated[GreedyStrategy | BeamStrategy | SampleStrategy, Field(discriminator="kind")] | None = Field(
        None, description="Decoding strategy of generated answers. Default: greedy; beam search for several answers."
    )
    answer_by: Way | None = Field(
        None,
        description="Generate an answer, retrieve that of the nearest known question, or both (hybrid). Default: that "
        "of the run; generate if a strategy, another decoding setting, several answers or attention are requested.",
    )
    max_length: Annotated[int, Field(ge=1, le=LONGEST), FROM_FLOAT] | None = Field(
        None, description="Maximum number of tokens of an answer; the limit of the run is the default and the maximum."
    )
    min_length: Whole = Field(0, ge=0, le=LARGEST, description="Minimum number of tokens of an answer.")
    repetition_penalty: float = Field(1.0, ge=1, le=100, description="Penalty for repeated tokens; 1 for none.")
    no_repeat_ngram: Whole = Field(
        0, ge=0, le=100, description="Forbid repeated n-grams of this many tokens; 0 for none."
    )

    forbidden: Annotated[list[Word], Field(max_length=MAX_WORDS)] = Field(
        [], description="Words that no answer contains, whether generated or retrieved."
    )

    def settings(self, num_return=1, attention=False):
        """Returns the parameters as `Settings`; raises `InputError` if they conflict."""
        default = None if num_return == 1 else Beam(max(BEAMS, num_return))
        strategy = self.strategy.strategy() if self.strategy else default
        limits = self.model_dump(include=LIMITS, exclude_defaults=True)
        generation = GenerationConfig(strategy, num_return, **limits) if strategy or limits else None
        return Settings(generation, attention, self.answer_by)


class AnswerRequest(GenerationParams):
    """Questions with generation parameters."""

    questions: Questions = Field(description="A question or a list of questions.", examples=["안녕하세요"])
    n_best: Whole = Field(1, ge=1, le=MAX_ANSWERS, description="Number of answers to each question.")
    attention: bool = Field(False, description="Whether to return the cross-attention of each first answer.")


class StreamRequest(GenerationParams):
    """A question with generation parameters."""

    question: Question = Field(examples=["안녕하세요"])


class Source(Message):
    """A known exchange with a similar question."""

    question: str
    answer: str
    file: str | None = Field(description="The source file; null for pairs passed in memory.")
    row: int | None
    similarity: float = Field(description="Similarity of the two questions, from 0 to 1.")


class Answer(Message):
    """An answer."""

    answer: str
    score: float | None = Field(
        description="Log-probability in nats, summed over the tokens; null for a retrieved answer."
    )
    answered_by: Literal["generate", "retrieve"]
    unsure: bool = Field(description="Whether the answer was retrieved with low similarity, and is probably wrong.")
    sources: list[Source] = Field(
        description="Sources of a retrieved answer, or the nearest exchanges of a generated one, nearest first."
    )


class Attention(Message):
    """The cross-attention from the tokens of an answer to those of the question."""

    question: list[str] = Field(description="Input tokens: the pieces of the question, between start and end.")
    answer: list[str] = Field(description="The pieces of the answer, including the end token if it was reached.")
    weights: list[list[list[list[float]]]] = Field(
        description="Attention weights by layer, head, piece of the answer and piece of the question."
    )


class QuestionResult(Message):
    """A question with its answers, the best first."""

    question: str
    answers: list[Answer]
    attention: Attention | None = Field(
        None, description="Attention of the first answer; missing if not requested, or if the question is blank."
    )


class AnswerResponse(Message):
    """The answers, in the order of the questions."""

    answers: list[QuestionResult]


class Fault(Message):
    """The description of an error."""

    message: str


class ErrorResponse(Message):
    """An error response. Errors of /v1/models use the format of TensorFlow Serving instead."""

    error: Fault


class Health(Message):
    """Whether the server is ready."""

    status: Literal["ready", "warming up"]
