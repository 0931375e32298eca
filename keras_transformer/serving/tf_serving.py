"""TensorFlow Serving's REST API: model status and predictions, in row or column format."""

import base64
from typing import Annotated, Literal

from fastapi import Body
from pydantic import AfterValidator, Discriminator, Field, Tag

from keras_transformer.serving.engine import Settings
from keras_transformer.serving.schemas import MAX_CHARACTERS, MAX_QUESTIONS, Message, Question

VERSION = "1"  # Version of the model; a run has only one.


def text_of(coded):
    """Decodes a text in base64; raises `ValueError` if it is invalid or too long."""
    try:
        text = base64.b64decode(coded, validate=True).decode("utf-8")
    except ValueError as error:  # Raised for invalid base64 and for invalid UTF-8.
        raise ValueError("not UTF-8 text in base64") from error
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"more than {MAX_CHARACTERS} characters in base64")
    return text


def kind_of(value):
    """Returns the union tag for a value."""
    if isinstance(value, dict):
        return next((f"<{name}>" for name in ("b64", "questions", "inputs", "instances") if name in value), None)
    return {str: "<text>", list: "<list>"}.get(type(value))


def form(what):
    """Returns the discriminator of a union, with an error message that names the expected input."""
    return Discriminator(kind_of, custom_error_type="form", custom_error_message=f"Input should be {what}")


class Coded(Message):
    """A string in base64, TensorFlow Serving's format for binary strings."""

    b64: Annotated[str, Field(max_length=6 * MAX_CHARACTERS), AfterValidator(text_of)]


Text = Annotated[Annotated[Question, Tag("<text>")] | Annotated[Coded, Tag("<b64>")], form("a question")]


class Row(Message):
    """A question under the name of the model's input."""

    questions: Text


Instance = Annotated[
    Annotated[Question, Tag("<text>")] | Annotated[Coded, Tag("<b64>")] | Annotated[Row, Tag("<questions>")],
    form("a question"),
]
Texts = Annotated[list[Text], Field(min_length=1, max_length=MAX_QUESTIONS)]


class Column(Message):
    """Questions under the name of the model's input."""

    questions: Texts


class Rows(Message):
    """Questions in row format."""

    signature_name: Literal["serving_default"] = "serving_default"
    instances: list[Instance] = Field(min_length=1, max_length=MAX_QUESTIONS, examples=[["안녕하세요", "hello"]])

    def question_texts(self):
        """Returns the questions as texts."""
        return [plain(one.questions if isinstance(one, Row) else one) for one in self.instances]

    def response(self, answers):
        """Returns the response for the `Answer`s."""
        return {"predictions": [{"answers": one.text, "scores": one.score} for one in answers]}


class Columns(Message):
    """Questions in column format."""

    signature_name: Literal["serving_default"] = "serving_default"
    inputs: Annotated[
        Annotated[Texts, Tag("<list>")] | Annotated[Column, Tag("<questions>")], form("a list of questions")
    ]  # fmt: skip

    def question_texts(self):
        """Returns the questions as texts."""
        return [plain(text) for text in (self.inputs.questions if isinstance(self.inputs, Column) else self.inputs)]

    def response(self, answers):
        """Returns the response for the `Answer`s."""
        return {"outputs": {"answers": [one.text for one in answers], "scores": [one.score for one in answers]}}


PredictRequest = Annotated[
    Annotated[Rows, Tag("<instances>")] | Annotated[Columns, Tag("<inputs>")],
    form('an object with "instances" or "inputs"'), Body(),
]  # fmt: skip


def plain(text):
    """Returns a question as text, decoded if it was in base64."""
    return text.b64 if isinstance(text, Coded) else text


class Prediction(Message):
    """An answer under the names of the model's outputs."""

    answers: str
    scores: float | None  # null if the answer was not generated.


class Predictions(Message):
    """Answers in row format."""

    predictions: list[Prediction]


class ColumnOutputs(Message):
    """All answers under the names of the model's outputs."""

    answers: list[str]
    scores: list[float | None]


class Outputs(Message):
    """Answers in column format."""

    outputs: ColumnOutputs


class Status(Message):
    """The error status of a model version."""

    error_code: Literal["OK"] = "OK"
    error_message: str = ""


class VersionStatus(Message):
    """The state of a model version."""

    version: str = VERSION
    state: Literal["LOADING", "AVAILABLE"]
    status: Status = Status()


class ModelStatus(Message):
    """The states of all model versions."""

    model_version_status: list[VersionStatus]


class TFServingError(Message):
    """An error response."""

    error: str


def add_tf_serving(app, name, batcher):
    """Adds the routes of TensorFlow Serving's REST API.

    Args:
        app: The FastAPI application.
        name: The model's name.
        batcher: The `Batcher`.
    """
    errors = {status: {"model": TFServingError} for status in (400, 401, 403, 413, 415, 422, 429, 503, 504)}
    described = {"tags": ["as TensorFlow Serving"], "responses": errors}

    async def status() -> ModelStatus:
        return ModelStatus(model_version_status=[VersionStatus(state="AVAILABLE" if batcher.ready else "LOADING")])

    async def predict(request: PredictRequest) -> Predictions | Outputs:
        results = await batcher.answers(request.question_texts(), Settings())
        return request.response([answers[0] for answers, _ in results])

    for version in ("", f"/versions/{VERSION}"):
        path = f"/v1/models/{name}{version}"
        about = "Model status" if not version else "Model version status"
        app.get(path, summary=about, **described)(status)
        app.post(f"{path}:predict", summary="Predict in row or column format", **described)(predict)
