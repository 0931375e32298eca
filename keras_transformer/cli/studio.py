"""The `studio` command: a page in the browser to train, talk, teach, compare and give away."""

import signal
import sys
import threading
import warnings
import webbrowser

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.cli.console import add_command, echo
from keras_transformer.cli.serve import say
from keras_transformer.errors import InputError, import_extra
from keras_transformer.language import translate as _
from keras_transformer.serving.auth import VARIABLE, read_key
from keras_transformer.serving.origin import LOCAL, OriginCheck
from keras_transformer.serving.sockets import address_of, is_open, listen

PORT = 7860


def add_studio(commands):
    """Adds the `studio` command."""
    studio = add_command(
        commands, "studio", run_studio,
        _("open a page in the browser to train bots, talk to them, teach and compare them, and give them away"),
        "keras-transformer studio runs",
    )  # fmt: skip
    studio.add_argument(
        "folder", metavar="FOLDER", nargs="?", default="runs",
        help=_("folder of the runs; created if missing (default: %(default)s)"),
    )  # fmt: skip
    studio.add_argument(
        "--host", default="127.0.0.1",
        help=_("address to listen on (default: 127.0.0.1, this machine only); others require a key"),
    )  # fmt: skip
    studio.add_argument(
        "--port", type=int, default=PORT, metavar="N",
        help=_("port to listen on (default: {port}; 0 for any free port)", port=PORT),
    )  # fmt: skip
    studio.add_argument(
        "--api-key-file", metavar="FILE",
        help=_("file with the key that visitors must enter (default: environment variable {variable}, else no key)",
               variable=VARIABLE),
    )  # fmt: skip
    studio.add_argument("--no-browser", action="store_true", help=_("do not open the browser"))


def run_studio(options):
    """Serves the page until SIGTERM or Ctrl-C; either way, trainings are saved."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # Which uvicorn sends again when it has stopped.
    key = read_key(options.api_key_file)
    import_extra("gradio", "studio", _("the studio"))
    with listen(options.host, options.port) as listener:
        if is_open(listener) and not key:
            raise InputError(
                _("--host {host}: other machines can reach the studio: add --api-key-file FILE", host=options.host)
            )
        import_tensorflow_quietly()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Of Gradio's dependencies.
            from keras_transformer.studio.page import Studio
            from keras_transformer.studio.server import run_studio as serve

        studio, address = Studio(options.folder), address_of(listener)
        origins = OriginCheck(None if is_open(listener) else {*LOCAL, options.host})

        def ready():
            say(_("The studio is at {address}. Ctrl-C ends it; trainings are saved.", address=address))
            if not options.no_browser:
                threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()

        serve(studio, listener, key, origins, ready)
    echo()
    return 0
