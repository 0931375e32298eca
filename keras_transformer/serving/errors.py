"""What clients are told when something goes wrong: one line of JSON, without paths or tracebacks."""

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from keras_transformer.errors import InputError
from keras_transformer.serving.limits import RequestRejected

TF_SERVING = "/v1/models/"
MESSAGES = {404: "there is no such path; /docs tells which there are", 405: "this path does not take that method"}


def error_response(path, status, message, headers=None):
    """An error as JSON, below /v1/models in the form of TensorFlow Serving."""
    content = {"error": message if path.startswith(TF_SERVING) else {"message": message}}
    return JSONResponse(content, status, headers)


def refusal(path, error):
    """A `RequestRejected` as a response."""
    return error_response(path, error.status, error.message, error.headers)


def in_words(found):
    """An error that pydantic found, in a line: where, and what."""
    place = ".".join(str(part) for part in found["loc"][1:] if not str(part).startswith("<"))  # Tags are none.
    message = found["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def add_error_handlers(app):
    """Makes all errors of an application such responses."""

    @app.exception_handler(RequestRejected)
    async def refused(request, error):
        return refusal(request.url.path, error)

    @app.exception_handler(InputError)
    async def cannot_be(request, error):
        return error_response(request.url.path, 422, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request, error):
        path, first = request.url.path, error.errors()[0]
        if first["type"] == "json_invalid":
            return error_response(path, 400, f"the request is no JSON: {first['ctx']['error']}")
        return error_response(path, 400 if path.startswith(TF_SERVING) else 422, in_words(first))

    @app.exception_handler(HTTPException)
    async def http(request, error):
        message = MESSAGES.get(error.status_code, error.detail)
        return error_response(request.url.path, error.status_code, message, error.headers)

    @app.exception_handler(Exception)
    async def unexpected(request, error):
        return error_response(request.url.path, 500, "the server failed at this; its log tells why")
