"""The command `serve`, in a process of its own where it runs or ends."""

import re
import signal
import socket
import subprocess
import sys

import pytest
import requests

from keras_transformer.cli import serve as command
from keras_transformer.cli.main import main
from keras_transformer.language import current_language, use_language

pytestmark = pytest.mark.heavy

COMMAND = [sys.executable, "-m", "keras_transformer", "serve"]


@pytest.fixture
def refused(call, monkeypatch):
    """A function that calls the command with wrong input and returns the lines of standard error.

    In this process, the signals of which it leaves alone.
    """
    monkeypatch.setattr(command, "end_at_signals", lambda: None)

    def refused(*arguments):
        process = call("serve", *arguments)
        assert (process.returncode, process.stdout) == (2, "")
        return process.stderr.splitlines()

    return refused


@pytest.fixture
def serve():
    """A function that starts the command and returns the process, its address and its words, once it is ready."""
    processes = []

    def make(*arguments):
        words = [*COMMAND, *map(str, arguments), "--port", "0"]
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # As a shell starts what shall run in the background.
        try:
            process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        finally:
            signal.signal(signal.SIGINT, before)
        processes.append(process)
        said = ""
        while "Ready" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        return process, re.search(r"Ready: (\S+)/docs", said)[1], said

    yield make
    for process in processes:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.slow  # Starts a program.
def test_it_answers_until_it_is_told_to_stop(small_run, serve):
    process, address, words = serve(small_run, "--batch", "1")
    assert "warning" not in words
    response = requests.post(f"{address}/v1/models/run:predict", json={"instances": ["잘 자"]}, timeout=300)
    assert response.json()["predictions"][0]["answers"] == "좋은 꿈 꾸세요."
    for headers in ({"Origin": "https://attacker.example"}, {"Host": "attacker.example"}):
        assert (
            requests.post(f"{address}/v1/answer", json={"questions": "bye"}, headers=headers, timeout=300).status_code
            == 403
        )
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=300)[1] == ""
    assert process.returncode == 0


@pytest.mark.slow
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

serve.make_engine = forgetting
main.main(["serve", "run", "--port", "0"])
"""
    process = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, timeout=300, check=False)
    assert (process.returncode, process.stderr) == (status, "Loading run …\n".encode() + end)


def test_responses_are_in_english_whatever_the_language_of_the_terminal(monkeypatch, capsys):
    from keras_transformer.serving import server

    languages = []

    def run_server(*arguments):
        languages.append(current_language())
        arguments[-1]()

    monkeypatch.setattr(server, "run_server", run_server)
    monkeypatch.setattr("keras_transformer.cli.serve.make_engine", lambda path: None)
    monkeypatch.setattr("keras_transformer.cli.serve.end_at_signals", lambda: None)
    try:
        assert main(["serve", "run", "--port", "0", "--lang", "ko"]) == 0
        assert (languages, current_language()) == (["en"], "ko")
    finally:
        use_language("en")
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines()] == [
        "run 불러오는 중 …",
        "준비하는 중 …  서버가 준비되었는지는 http",
        "준비되었습니다",
    ]


@pytest.mark.filterwarnings("default")  # Shown, as in a process of its own.
def test_open_to_other_machines_without_a_key_is_worth_a_warning(refused):
    warning, *_, error = refused("no-such-run", "--host", "0.0.0.0", "--port", "0")
    assert warning == (
        "keras-transformer: warning: any machine can send requests: add --api-key-file FILE to require a key"
    )
    assert error.endswith("there is no such run folder")


def test_a_port_in_use_is_one_line(small_run, refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        [line] = refused(small_run, "--port", port)
    assert line.startswith(f"keras-transformer: error: cannot listen on 127.0.0.1, port {port}: ")
    assert line.endswith("; choose another --host or --port")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--batch", "0"], "--batch must be at least 1, not 0"),
        (["run", "--api-key-file", "no-key"], "no-key: No such file or directory"),
        (["run", "--name", "a b"], "'a b' is not valid in /v1/models/NAME: add --name NAME"),
        (["run", "--port", "65536"], "--port must be from 0 to 65535, not 65536"),
        (["run", "--programs", "-1"], "--programs must be at least 0, not -1"),
        (["run", "--trusted-proxy", "nobody"], "--trusted-proxy must be an address or a network, such as 10.0.0.0/8"),
    ],
)
def test_wrong_input_is_one_line(refused, arguments, message):
    [line] = refused(*arguments)
    assert message in line


@pytest.mark.parametrize("package", ["fastapi", "fastapi_offline", "prometheus_client", "uvicorn"])
def test_a_missing_package_names_the_extra(refused, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    assert refused("run") == [
        f"keras-transformer: error: serving needs the package {package}, which is missing: "
        "pip install 'keras-transformer-trainer[serve]'"
    ]
