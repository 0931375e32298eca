"""The command `serve` as its users start it: in a process of its own."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest
import requests

COMMAND = [sys.executable, "-m", "keras_transformer", "serve"]


def call(*arguments, code=None, **environment):
    command = [*COMMAND, *map(str, arguments)] if code is None else [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, timeout=300, check=False, env=environment)


def one_error_line(process):
    """The last line of standard error, with no traceback above it; the exit status is that of wrong input."""
    assert process.returncode == 2
    assert process.stdout == b""
    text = process.stderr.decode()
    assert "Traceback" not in text
    return text.strip().splitlines()[-1]


@pytest.fixture
def serve():
    """A function that starts the command and returns the process, its address and its words, once it is ready."""
    processes = []

    def make(*arguments):
        command = [*COMMAND, *map(str, arguments), "--port", "0"]
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # As a shell starts what shall run in the background.
        try:
            process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        finally:
            signal.signal(signal.SIGINT, before)
        processes.append(process)
        words = ""
        while "Ready" not in words:
            line = process.stderr.readline()
            assert line, words
            words += line
        return process, re.search(r"Ready: (\S+)/docs", words)[1], words

    yield make
    for process in processes:
        process.kill()
        process.wait()
        process.stderr.close()


def test_it_answers_until_it_is_told_to_stop(small_run, serve):
    process, address, words = serve(small_run, "--batch", "1")
    assert "warning" not in words
    response = requests.post(f"{address}/v1/models/run:predict", json={"instances": ["잘 자"]}, timeout=300)
    assert response.json()["predictions"][0]["answers"] == "좋은 꿈 꾸세요."
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=300)[1] == ""
    assert process.returncode == 0


def test_ctrl_c_is_status_130_and_the_key_opens(small_run, serve, tmp_path):
    (tmp_path / "key").write_text("secret\n")
    process, address, words = serve(small_run, "--batch", "1", "--host", "0.0.0.0", "--api-key-file", tmp_path / "key")
    assert "warning" not in words
    asked = {"url": f"{address}/v1/answer", "json": {"questions": "bye"}, "timeout": 300}
    assert requests.post(**asked).status_code == 401
    response = requests.post(**asked, headers={"Authorization": "Bearer secret"})
    assert response.json()["answers"][0]["answers"][0]["answer"] == "See you soon!"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=300)[1] == "\n"
    assert process.returncode == 130


@pytest.mark.parametrize(("number", "status", "end"), [(signal.SIGINT, 130, b"\n"), (signal.SIGTERM, 0, b"")])
def test_a_signal_before_the_server_runs_is_not_lost_where_exceptions_are(number, status, end):
    code = f"""
import contextlib, os, sys
from keras_transformer.cli import main, serve

def forgetting(path):
    with contextlib.suppress(BaseException):
        os.kill(os.getpid(), {number:d})
    sys.exit("gone on")

serve.make_served = forgetting
main.main(["serve", "run", "--port", "0"])
"""
    process = call(code=code)
    assert (process.returncode, process.stderr) == (status, "Loading run …\n".encode() + end)


def test_open_to_other_machines_without_a_key_is_worth_a_warning():
    process = call("no-such-run", "--host", "0.0.0.0", "--port", "0")
    assert one_error_line(process).endswith("there is no such run folder")
    warning = "keras-transformer: warning: any machine can send requests: add --api-key-file FILE to require a key\n"
    assert process.stderr.decode().startswith(warning)


def test_a_port_in_use_is_one_line(small_run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = one_error_line(call(small_run, "--port", port))
    start = f"keras-transformer: error: cannot listen on 127.0.0.1, port {port}: "
    assert line.startswith(start)
    assert line.endswith("; choose another --host or --port")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--batch", "0"], "--batch must be at least 1, not 0"),
        (["run", "--api-key-file", "no-key"], "no-key: No such file or directory"),
        (["run", "--name", "a b"], "'a b' is not valid in /v1/models/NAME: add --name NAME"),
        (["run", "--port", "65536"], "--port must be from 0 to 65535, not 65536"),
    ],
)
def test_wrong_input_is_one_line(arguments, message):
    assert message in one_error_line(call(*arguments))


@pytest.mark.parametrize("package", ["fastapi", "fastapi_offline", "prometheus_client", "uvicorn"])
def test_a_missing_package_names_the_extra(package):
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from keras_transformer.cli.main import main; sys.exit(main(['serve', 'run']))"
    )
    assert one_error_line(call(code=code)) == (
        f"keras-transformer: error: serving needs the package {package}, which is missing: "
        "pip install 'keras-transformer-trainer[serve]'"
    )
