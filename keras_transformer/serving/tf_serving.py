"""TensorFlow Serving's REST: the model's state and predictions, by rows or by columns."""

import base64
from typing import Annotated, Literal

from fastapi import Body
from pydantic import AfterValidator, Discriminator, Field, Tag

from keras_transformer.serving.engine import Settings
from keras_transformer.serving.schemas import MAX_CHARACTERS, MAX_QUESTIONS, Message, Question

VERSION = "1"  # Of the model; a run has one.


def text_of(coded):
    """The text in base64."""
    try:
        text = base64.b64decode(coded, validate=True).decode("utf-8")
    except ValueError as error:  # That of base64, or that of UTF-8.
        raise ValueError("no UTF-8 text in base64") from error
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"more than {MAX_CHARACTERS} characters in base64")
    return text


def kind_of(value):
    """The tag of the form that a value has."""
    if isinstance(value, dict):
        return next((f"<{name}>" for name in ("b64", "questions", "inputs", "instances") if name in value), None)
    return {str: "<text>", list: "<list>"}.get(type(value))


def form(what):
    """Lets `kind_of` tell the forms apart, and names what is needed where it cannot."""
    return Discriminator(kind_of, custom_error_type="form", custom_error_message=f"Input should be {what}")


class Coded(Message):
    """A string in base64, which TensorFlow Serving has for strings that may be no text."""

    b64: Annotated[str, Field(max_length=6 * MAX_CHARACTERS), AfterValidator(text_of)]


Text = Annotated[Annotated[Question, Tag("<text>")] | Annotated[Coded, Tag("<b64>")], form("a question")]


class Row(Message):
    """A question by the name of the model's input."""

    questions: Text


Instance = Annotated[
    Annotated[Question, Tag("<text>")] | Annotated[Coded, Tag("<b64>")] | Annotated[Row, Tag("<questions>")],
    form("a question"),
]
Texts = Annotated[list[Text], Field(min_length=1, max_length=MAX_QUESTIONS)]


class Column(Message):
    """Questions by the name of the model's input."""

    questions: Texts


class Rows(Message):
    """Questions by rows."""

    signature_name: Literal["serving_default"] = "serving_default"
    instances: list[Instance] = Field(min_length=1, max_length=MAX_QUESTIONS, examples=[["안녕하세요", "hello"]])

    def asked(self):
        """The questions."""
        return [plain(one.questions if isinstance(one, Row) else one) for one in self.instances]

    def answered(self, found):
        """The response with the `Answer`s."""
        return {"predictions": [{"answers": one.text, "scores": one.score} for one in found]}


class Columns(Message):
    """Questions by columns."""

    signature_name: Literal["serving_default"] = "serving_default"
    inputs: Annotated[
        Annotated[Texts, Tag("<list>")] | Annotated[Column, Tag("<questions>")], form("a list of questions")
    ]  # fmt: skip

    def asked(self):
        """The questions."""
        return [plain(text) for text in (self.inputs.questions if isinstance(self.inputs, Column) else self.inputs)]

    def answered(self, found):
        """The response with the `Answer`s."""
        return {"outputs": {"answers": [one.text for one in found], "scores": [one.score for one in found]}}


PredictRequest = Annotated[
    Annotated[Rows, Tag("<instances>")] | Annotated[Columns, Tag("<inputs>")],
    form('an object with "instances" or "inputs"'), Body(),
]  # fmt: skip


def plain(text):
    """A question that may be in base64 as text."""
    return text.b64 if isinstance(text, Coded) else text


class Prediction(Message):
    """An answer by the names of the model's outputs."""

    answers: str
    scores: float | None  # null of an answer that was retrieved.


class Predictions(Message):
    """Answers by rows."""

    predictions: list[Prediction]


class Found(Message):
    """All answers by the names of the model's outputs."""

    answers: list[str]
    scores: list[float | None]


class Outputs(Message):
    """Answers by columns."""

    outputs: Found


class Status(Message):
    """Whether the state is an error."""

    error_code: Literal["OK"] = "OK"
    error_message: str = ""


class VersionStatus(Message):
    """The state of a version of the model."""

    version: str = VERSION
    state: Literal["LOADING", "AVAILABLE"]
    status: Status = Status()


class ModelStatus(Message):
    """The state of all versions."""

    model_version_status: list[VersionStatus]


class TFServingError(Message):
    """What errors look like."""

    error: str


def add_tf_serving(app, name, batcher):
    """Adds the routes.

    Args:
        app: The FastAPI application.
        name: The model's name.
        batcher: The `Batcher`.
    """
    errors = {status: {"model": TFServingError} for status in (400, 401, 413, 422, 429, 503, 504)}
    described = {"tags": ["as TensorFlow Serving"], "responses": errors}

    async def status() -> ModelStatus:
        state = "AVAILABLE" if batcher.ready else "LOADING"
        return ModelStatus(model_version_status=[VersionStatus(state=state)])

    async def predict(request: PredictRequest) -> Predictions | Outputs:
        found = await batcher.answers(request.asked(), Settings())
        return request.answered([answers[0] for answers, _ in found])

    for version in ("", f"/versions/{VERSION}"):
        path = f"/v1/models/{name}{version}"
        about = "The state of the model" if not version else "The state of a version"
        app.get(path, summary=about, **described)(status)
        app.post(f"{path}:predict", summary="Answers by rows or columns", **described)(predict)
