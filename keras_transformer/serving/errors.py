"""Error responses: one line of JSON, without file paths or tracebacks."""

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from keras_transformer.errors import InputError
from keras_transformer.serving.limits import RequestRejected

TF_SERVING = "/v1/models/"
MESSAGES = {404: "path not found: see /docs for the paths", 405: "method not allowed for this path: see /docs"}


def error_response(path, status, message, headers=None):
    """Returns an error as JSON; paths below /v1/models use the format of TensorFlow Serving."""
    content = {"error": message if path.startswith(TF_SERVING) else {"message": message}}
    return JSONResponse(content, status, headers)


def refusal(path, error):
    """Returns the response for a `RequestRejected`."""
    return error_response(path, error.status, error.message, error.headers)


def in_words(error):
    """Returns a pydantic error as one line: field and message."""
    place = ".".join(str(key) for key in error["loc"][1:] if not str(key).startswith("<"))  # Skip union tags.
    message = error["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def add_error_handlers(app):
    """Adds handlers that turn all exceptions of an application into error responses."""

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
        return error_response(request.url.path, 500, "internal server error: see the server's log")
