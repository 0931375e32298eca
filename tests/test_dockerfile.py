"""The server's image, as far as it can be tried without a container: its files, its commands, its health check."""

import configparser
import fnmatch
import http.server
import json
import pathlib
import re
import shlex
import subprocess
import sys
import threading

import pytest

from keras_transformer.cli.main import parser

ROOT = pathlib.Path(__file__).parents[1]
TEXT = re.sub(r"\\\n", "", (ROOT / "Dockerfile").read_text("utf-8"))
INSTRUCTIONS = [line.split(maxsplit=1) for line in TEXT.splitlines() if line and line[0] not in "# "]


def values(name):
    """Returns what follows each instruction of a name."""
    return [rest for instruction, rest in INSTRUCTIONS if instruction == name]


def copied():
    """Returns the paths that are copied into the image."""
    return [ROOT / source for rest in values("COPY") for source in rest.split()[:-1]]


@pytest.fixture(scope="module")
def setup():
    """What setup.cfg says."""
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    return setup


@pytest.fixture
def answering(free_port):
    """A function that starts a server whose /health has a status; it returns the port."""
    servers = []

    def start(status):
        class Health(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status if self.path == "/health" else 404)
                self.end_headers()

            def log_message(self, *_):
                pass

        servers.append(http.server.HTTPServer(("127.0.0.1", free_port()), Health))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1].server_port

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def served():
    """Returns the options of the command that the image starts."""
    [entry] = values("ENTRYPOINT")
    program, *words = json.loads(entry)
    assert program == "keras-transformer"
    return parser().parse_args(words)


def check_health(port):
    """Runs the health check on a port; returns its exit status."""
    [check] = values("HEALTHCHECK")
    program, *words = json.loads(check.partition(" CMD ")[2])
    assert program == "python"
    words = [word.replace(f":{served().port}/", f":{port}/") for word in words]
    return subprocess.run([sys.executable, *words], stderr=subprocess.DEVNULL, check=False).returncode


def test_it_serves_what_is_mounted_to_other_machines_at_the_port_that_it_says():
    options = served()
    assert [str(options.port)] == values("EXPOSE")
    assert f':{options.run}:ro"' in TEXT  # In the example at its head.
    assert options.host == "0.0.0.0"


def test_the_health_check_believes_a_ready_server_alone(answering, free_port):
    assert [check_health(port) for port in (answering(200), answering(503), free_port())] == [0, 1, 1]


def test_it_does_not_run_as_root():
    [user] = values("USER")
    assert any(shlex.split(run)[0] == "useradd" and run.endswith(f" {user}") for run in values("RUN"))
    names = [name for name, _ in INSTRUCTIONS]
    assert names.index("USER") > max(i for i, name in enumerate(names) if name == "RUN")


def test_its_python_is_one_that_is_promised(setup):
    [version] = values("ARG")
    assert f"Programming Language :: Python :: {version.removeprefix('PYTHON=')}" in setup["metadata"]["classifiers"]


def test_what_it_copies_is_there_and_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split("\n")
    kept = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    assert "*" in ignored
    for path in copied():
        assert path.exists()
        assert any(fnmatch.fnmatch(path.name, pattern) for pattern in kept)


def test_what_it_copies_can_be_installed_with_the_extra(setup, tmp_path):
    source, site = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    for path in copied():
        (source / path.name).symlink_to(path)
    [install] = [shlex.split(run) for run in values("RUN") if run.startswith("pip ")]
    [extra] = re.findall(r"\[(\w+)\]", install[-1])
    assert extra in setup["options.extras_require"]
    assert (source / install[install.index("--constraint") + 1]).exists()
    alone = ["--no-deps", "--no-build-isolation", "--no-compile", "--quiet", "--target", str(site)]
    subprocess.run([sys.executable, "-m", *install, *alone], cwd=source, check=True)
    assert (site / "keras_transformer_trainer.py").exists()
    assert (site / "keras_transformer/data/small_talk/small_talk.csv").exists()
