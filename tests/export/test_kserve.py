"""The example that serves a SavedModel with KServe's server, in an environment that holds these two packages alone."""

import json
import pathlib
import subprocess
import time
import urllib.request

import pytest
import tensorflow as tf

EXAMPLE = pathlib.Path(__file__).parents[2] / "docs/examples/kserve_server.py"
SECONDS_TO_START = 900


def ask(port, questions):
    """What the server says to questions, once it is there."""
    body = json.dumps({"instances": questions}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/models/chatbot:predict", body, headers)
    end = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            with urllib.request.urlopen(request, timeout=SECONDS_TO_START) as answer:
                return json.load(answer)["predictions"]
        except ConnectionError:
            if time.monotonic() > end:
                raise
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionError) or time.monotonic() > end:
                raise
        time.sleep(0.5)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_kserve_answers_as_the_run(saved_model, bot, environment, free_port, tmp_path):
    python = environment("kserve>=0.21,<0.22", f"tensorflow=={tf.__version__}")
    port = free_port()
    words = [
        python,
        EXAMPLE,
        saved_model,
        "--model_name",
        "chatbot",
        "--http_port",
        str(port),
        "--enable_grpc",
        "false",
    ]
    with open(tmp_path / "log", "wb") as log:
        server = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log)
    try:
        questions = ["안녕하세요", "hello", ""]
        assert [row["answers"] for row in ask(port, questions)] == bot.replies(questions)
    finally:
        server.terminate()
        server.wait(timeout=300)
