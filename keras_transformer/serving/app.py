"""The routes of the server."""

import json

from fastapi import FastAPI, Response, Security
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import RedirectResponse, StreamingResponse
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles

from keras_transformer import __version__
from keras_transformer.serving.errors import add_error_handlers
from keras_transformer.serving.limits import RequestRejected
from keras_transformer.serving.metrics import CONTENT_TYPE, Measured
from keras_transformer.serving.middleware import Gate
from keras_transformer.serving.schemas import (
    Answer,
    AnswerRequest,
    AnswerResponse,
    ErrorResponse,
    Health,
    QuestionResult,
    StreamRequest,
)
from keras_transformer.serving.tf_serving import add_tf_serving

ERRORS = {status: {"model": ErrorResponse} for status in (400, 401, 403, 413, 415, 422, 429, 503, 504)}
EVENT = {
    "type": "object", "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["message", "end", "error"]},
        "data": {"type": "string", "description": "JSON: {\"text\": …}; at the end an answer; or {\"error\": …}"},
    },
}  # fmt: skip
PASSED_ON = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}  # Tells proxies to pass events on at once.
FROM_HERE_ALONE = "default-src 'self' 'unsafe-inline' data:"  # Content Security Policy of /docs.


def make_app(batcher, name, key=None, origins=None):
    """Returns the ASGI application with all routes and middleware.

    Args:
        batcher: The `Batcher` that answers the questions.
        name: The model's name in TensorFlow Serving's paths.
        key: The API key that clients must send; None for no key.
        origins: The `OriginCheck`; None if any web page may send requests.
    """
    app = FastAPI(
        title=f"keras-transformer: {name}", version=__version__, docs_url=None, redoc_url=None,
        dependencies=[Security(HTTPBearer(auto_error=False))] if key else [],
    )  # fmt: skip
    add_error_handlers(app)
    add_answers(app, batcher)
    add_tf_serving(app, name, batcher)
    add_state(app, batcher)
    add_docs(app)
    gate = Gate(app, batcher.limits.rate, key, origins)
    return Measured(gate, batcher.metrics, {route.path for route in app.routes})


def add_answers(app, batcher):
    """Adds the routes that answer questions."""
    streamed = {200: {"content": {"text/event-stream": {"itemSchema": EVENT}}}}

    @app.post("/v1/answer", response_model_exclude_unset=True, responses=ERRORS, tags=["answers"])
    async def answer(request: AnswerRequest) -> AnswerResponse:
        """Answers one question or several."""
        questions = [request.questions] if isinstance(request.questions, str) else request.questions
        results = await batcher.answers(questions, request.settings(request.n_best, request.attention))
        return AnswerResponse(answers=[question_result(*one) for one in zip(questions, results)])

    @app.post("/v1/stream", response_class=Response, responses=streamed | ERRORS, tags=["answers"])
    async def stream(request: StreamRequest) -> StreamingResponse:
        """Streams one answer as server-sent events: {"text": …} for each piece, then {"answer": …}."""
        pieces = batcher.stream(request.question, request.settings())
        first = await anext(pieces, None)  # Reports errors of the request before the response starts.
        return StreamingResponse(events(first, pieces), headers=PASSED_ON, media_type="text/event-stream")


def question_result(question, result):
    """Returns the `QuestionResult` of a question, given its result from `Batcher.answers`."""
    answers, attention = result
    answers = [Answer.model_validate(answer_fields(answer)) for answer in answers]
    rest = {} if attention is None else {"attention": attention}
    return QuestionResult(question=question, answers=answers, **rest)


def answer_fields(answer):
    """Returns the fields of a `chat.answering.Answer` in responses, as a dictionary."""
    return {**answer.to_dict(), "score": answer.score}


async def events(first, others):
    """Yields the events of an answer: its pieces, then the whole answer or an error."""
    text, about = "", {}
    try:
        async for piece in joined(first, others):
            if isinstance(piece, str):
                text += piece
                yield event(text=piece)
            else:
                about = answer_fields(piece)
        yield event("end", **{**about, "answer": text})
    except RequestRejected as error:
        yield event("error", error={"message": error.message})
    finally:
        await others.aclose()


async def joined(first, others):
    """Yields the first piece, unless it is None, and then the others."""
    if first is not None:
        yield first
        async for piece in others:
            yield piece


def event(kind="message", **data):
    """Returns a server-sent event."""
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def add_state(app, batcher):
    """Adds the routes for health and metrics."""

    @app.get("/health", responses={503: {"model": Health}}, tags=["state"])
    async def health(response: Response) -> Health:
        """Reports whether the server is ready, which it is after the warm-up."""
        response.status_code = 200 if batcher.ready else 503
        return Health(status="ready" if batcher.ready else "warming up")

    text = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}

    errors = {status: {"model": ErrorResponse} for status in (401, 403)}

    @app.get("/metrics", response_class=Response, responses=text | errors, tags=["state"])
    async def metrics():
        """Returns metrics for Prometheus."""
        return Response(batcher.metrics.text(), media_type=CONTENT_TYPE)


def add_docs(app):
    """Adds the page /docs, to which / leads.

    fastapi-offline provides the files of Swagger UI, so that nothing is loaded elsewhere.
    """
    files = "/docs/files"
    app.mount(files, StaticFiles(packages=[("fastapi_offline", "static")]))

    app.add_api_route("/", lambda: RedirectResponse("/docs"), include_in_schema=False)

    @app.get("/docs", include_in_schema=False)
    async def docs():
        page = get_swagger_ui_html(
            openapi_url=app.openapi_url, title=app.title, swagger_js_url=f"{files}/swagger-ui-bundle.js",
            swagger_css_url=f"{files}/swagger-ui.css", swagger_favicon_url=f"{files}/favicon.png",
        )  # fmt: skip
        page.headers["Content-Security-Policy"] = FROM_HERE_ALONE
        return page
