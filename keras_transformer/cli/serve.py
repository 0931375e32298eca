"""The command `serve`: a trained run that answers over HTTP."""

import importlib
import os
import pathlib
import signal
import sys
import warnings

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command
from keras_transformer.errors import InputError
from keras_transformer.serving.auth import VARIABLE, read_key
from keras_transformer.serving.limits import Limits
from keras_transformer.serving.sockets import address_of, is_open, listen

INTERRUPTED = 130
NEEDED = ("fastapi", "fastapi_offline", "prometheus_client", "uvicorn")


def add_serve(commands):
    """The grammar of `serve`."""
    serve = add_command(
        commands, "serve", run_serve, "answer over HTTP: JSON, streams, TensorFlow Serving's REST, metrics",
        "keras-transformer serve runs/first --port 8000",
    )  # fmt: skip
    serve.add_argument("run", metavar="RUN", help="folder of a run, or one that `export` wrote")
    serve.add_argument(
        "--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1, this machine alone)"
    )
    serve.add_argument("--port", type=int, default=8000, metavar="N", help="default: 8000; 0 for any that is free")
    serve.add_argument("--name", help="name in /v1/models/NAME (default: the folder's)")
    serve.add_argument(
        "--api-key-file", metavar="FILE",
        help=f"file with the key that clients must show (default: the environment's {VARIABLE}; none for no key)",
    )  # fmt: skip
    add_limits(serve)


def add_limits(parser):
    """Adds how much the server takes upon itself."""
    group = parser.add_argument_group("limits")
    group.add_argument(
        "--batch", type=int, default=Limits.batch, metavar="N",
        help="questions that are answered side by side (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--queue", type=int, default=Limits.queue, metavar="N", help="questions that may wait (default: %(default)s)"
    )
    group.add_argument(
        "--settings", type=int, default=Limits.settings, metavar="N",
        help="different ways of answering (strategies and their settings); each takes memory for good "
        "(default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--rate", type=float, default=Limits.rate, metavar="X", help="requests a second of one client (default: any)"
    )
    group.add_argument(
        "--timeout", type=float, default=Limits.timeout, metavar="X",
        help="seconds that an answer may take (default: %(default)g)",
    )  # fmt: skip


def run_serve(options):
    """Serves until it is told to stop."""
    end_at_signals()
    limits = Limits(options.batch, options.queue, options.settings, options.rate, options.timeout)
    key, name = read_key(options.api_key_file), model_name(options)
    check_packages()
    with listen(options.host, options.port) as listener:
        if is_open(listener) and not key:
            warnings.warn("other machines can ask, whoever they are: add --api-key-file FILE", stacklevel=1)
        import_tensorflow_quietly()
        from keras_transformer.serving.server import run_server

        say(f"Loading {options.run} …")
        served = make_served(pathlib.Path(options.run))
        address = address_of(listener)
        say(f"Warming up …  {address}/health tells when it is ready.")
        run_server(served, listener, name, limits, key, lambda: say(f"Ready: {address}/docs"))
    return 0


def end_at_signals():
    """Lets SIGTERM (status 0) and Ctrl-C (130) end the process at once; uvicorn sends them again when it has stopped.

    An exception would be less: pydantic, building the routes, makes another error of any that comes, or forgets it. And
    SIGINT is not left as it was: shells have it ignored in what they start in the background, uvicorn stops at it all
    the same, and nobody would be told.
    """
    errors = os.dup(sys.stderr.fileno())  # Which leads nowhere while TensorFlow is imported.

    def interrupt(*_):
        os.write(errors, b"\n")
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGINT, interrupt)


def make_served(path):
    """What a server asks: the chatbot of a run folder, or an exported folder."""
    from keras_transformer.export.loader import Exported, open_bot
    from keras_transformer.serving.engine import ServedExport, ServedRun

    bot = open_bot(path)
    return ServedExport(bot) if isinstance(bot, Exported) else ServedRun(bot)


def model_name(options):
    """The name of the model in paths."""
    name = options.name or pathlib.Path(options.run).resolve().name
    if not all(character.isalnum() or character in "._-" for character in name):
        raise InputError(f"{name!r} cannot stand in /v1/models/NAME: add --name NAME of letters, digits, '.', '_', '-'")
    return name


def check_packages():
    """Raises `InputError` if a package of the extra is missing."""
    try:
        for package in NEEDED:
            importlib.import_module(package)
    except ImportError as error:
        what = f"serving needs the package {error.name}, which is missing"
        raise InputError(f"{what}: pip install 'keras-transformer[serve]'") from error


def say(text):
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)
