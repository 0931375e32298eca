"""The `serve` command: serves a trained run over HTTP."""

import ipaddress
import os
import pathlib
import signal
import sys
import warnings

from keras_transformer.chat.answering import RETRIEVE
from keras_transformer.cli.console import add_command, echo
from keras_transformer.cli.generation_options import tell_unfinished
from keras_transformer.errors import InputError, import_extra
from keras_transformer.language import ENGLISH, language_in_use
from keras_transformer.language import translate as _
from keras_transformer.serving.auth import VARIABLE, read_key
from keras_transformer.serving.limits import Limits
from keras_transformer.serving.sockets import address_of, is_open, listen

INTERRUPTED = 130
NEEDED = ("fastapi", "fastapi_offline", "prometheus_client", "uvicorn")


def add_serve(commands):
    """Adds the `serve` command."""
    serve = add_command(
        commands,
        "serve",
        run_serve,
        _("serve a run over HTTP: JSON, streaming, TensorFlow Serving's REST API, metrics"),
        "keras-transformer serve runs/first --port 8000",
    )
    serve.add_argument("run", metavar="RUN", help=_("folder of a run or an export"))
    serve.add_argument(
        "--host", default="127.0.0.1", help=_("address to listen on (default: 127.0.0.1, this machine only)")
    )
    serve.add_argument(
        "--port", type=int, default=8000, metavar="N", help=_("port to listen on (default: 8000; 0 for any free port)")
    )
    serve.add_argument("--name", help=_("model name in /v1/models/NAME (default: name of the folder)"))
    serve.add_argument(
        "--api-key-file",
        metavar="FILE",
        help=_(
            "file with the API key that clients must send (default: environment variable {variable}, else no key)",
            variable=VARIABLE,
        ),
    )
    serve.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help=_("without a key: another name of this server, whose web pages may send requests; can be repeated"),
    )  # fmt: skip
    serve.add_argument(
        "--trusted-proxy", action="append", default=[], metavar="ADDRESS",
        help=_("address or network of a proxy whose X-Forwarded-For is believed (default: none); can be repeated"),
    )  # fmt: skip
    add_limits(serve)


def add_limits(parser):
    """Adds the options for the server's limits."""
    group = parser.add_argument_group(_("limits"))
    group.add_argument(
        "--batch", type=int, default=Limits.batch, metavar="N",
        help=_("maximum batch size in questions (default: %(default)s)"),
    )  # fmt: skip
    group.add_argument(
        "--queue",
        type=int,
        default=Limits.queue,
        metavar="N",
        help=_("maximum number of waiting questions (default: %(default)s)"),
    )
    group.add_argument(
        "--programs", type=int, default=Limits.programs, metavar="N",
        help=_(
            "maximum number of programs to compile for other decoding settings than the default, whose memory is never "
            "freed; further settings are answered slower (default: %(default)s)"
        ),
    )  # fmt: skip
    group.add_argument(
        "--rate",
        type=float,
        default=Limits.rate,
        metavar="X",
        help=_("rate limit in requests per second and client (default: none)"),
    )
    group.add_argument(
        "--timeout", type=float, default=Limits.timeout, metavar="X",
        help=_("timeout of an answer in seconds (default: %(default)g)"),
    )  # fmt: skip


def run_serve(options):
    """Serves until SIGTERM or Ctrl-C."""
    end_at_signals()
    limits = Limits(options.batch, options.queue, options.programs, options.rate, options.timeout)
    key, name = read_key(options.api_key_file), model_name(options)
    check_proxies(options.trusted_proxy)
    check_packages()
    with listen(options.host, options.port) as listener:
        if is_open(listener) and not key:
            warnings.warn(_("any machine can send requests: add --api-key-file FILE to require a key"), stacklevel=1)
        from keras_transformer.serving.server import run_server

        say(_("Loading {run} …", run=options.run))
        tell_unfinished(options.run)
        engine = make_engine(pathlib.Path(options.run))
        address = address_of(listener)
        say(_("Warming up …  {address}/health reports when the server is ready.", address=address))
        ready = _("Ready: {address}/docs", address=address)
        origins = None if key else origin_check(listener, options)
        with language_in_use(ENGLISH):  # Responses are for programs, which do not know the server's locale.
            run_server(engine, listener, name, limits, key, origins, options.trusted_proxy, lambda: say(ready))
    return 0


def origin_check(listener, options):
    """Returns the `OriginCheck` of a server without a key."""
    from keras_transformer.serving.origin import LOCAL, OriginCheck

    return OriginCheck(None if is_open(listener) else {*LOCAL, options.host}, options.allow_host)


def check_proxies(proxies):
    """Raises `InputError` unless all are addresses or networks."""
    for proxy in proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as error:
            raise InputError(
                _("--trusted-proxy must be an address or a network, such as 10.0.0.0/8, not {proxy!r}", proxy=proxy)
            ) from error


def end_at_signals():
    """Makes SIGTERM (status 0) and Ctrl-C (130) end the process at once; uvicorn sends them again when it has stopped.

    Raising an exception would not suffice: while building the routes, pydantic wraps or swallows any exception. SIGINT
    needs a handler, too: shells ignore it for background processes, where uvicorn would still stop at it, but without
    an exit status that says so.
    """
    errors = os.dup(sys.stderr.fileno())  # Standard error is redirected while TensorFlow is imported.

    def interrupt(*_):
        os.write(errors, b"\n")
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGINT, interrupt)


def make_engine(path):
    """Returns the engine for a run folder or an export. A run that retrieves loads its model later, if ever."""
    from keras_transformer.export.loader import Exported, open_bot
    from keras_transformer.serving.engine import ExportEngine, RunEngine

    bot = open_bot(path)
    if isinstance(bot, Exported):
        return ExportEngine(bot)
    if bot.way() != RETRIEVE:
        bot.load_model()  # No request has to wait for it, and damaged weights are reported here.
    return RunEngine(bot)


def model_name(options):
    """Returns the name of the model in URL paths."""
    name = options.name or pathlib.Path(options.run).resolve().name
    if not all(character.isalnum() or character in "._-" for character in name):
        raise InputError(
            _("{name!r} is not valid in /v1/models/NAME: add --name NAME of letters, digits, '.', '_', '-'", name=name)
        )
    return name


def check_packages():
    """Raises `InputError` if a package of the extra `serve` is missing."""
    for package in NEEDED:
        import_extra(package, "serve", "serving")


def say(text):
    """Prints progress to standard error."""
    echo(text, file=sys.stderr, flush=True)
