"""The commands that the documentation shows."""

import pathlib
import re
import shlex

import requests

from keras_transformer.chat.answering import Answer
from keras_transformer.serving.engine import Served

DOCS = pathlib.Path(__file__).parents[2] / "docs"


def commands(name):
    text = (DOCS / name).read_text("utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [line for language, block in blocks if not language for line in block.splitlines()]


def test_both_languages_show_the_same_commands():
    assert commands("serving.md") == commands("serving.ko.md")


class Telling(Served):
    def attended(self, question, settings):
        return [Answer("A", 0.0)], {"question": ["a"], "answer": ["A"], "weights": [[[[1.0]]]]}


def test_every_curl_that_is_shown_works(start, bot):
    address = start(Telling(bot, 20), name="first").address
    shown = [shlex.split(line) for line in commands("serving.md") if line.startswith("curl")]
    assert len(shown) == 8
    for words in shown:
        [url] = [word for word in words if "://" in word]
        path = url.removeprefix("http://127.0.0.1:8000")
        if "--data" in words:
            data = words[words.index("--data") + 1].encode()
            response = requests.post(address + path, data=data, timeout=300)
        else:
            response = requests.get(address + path, timeout=300)
        assert response.status_code == 200, response.text
