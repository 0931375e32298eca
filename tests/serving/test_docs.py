"""The pages on the server: the commands that they show work, and the reference has what the server has."""

import json
import pathlib
import re
import shlex

import pytest
import requests

from keras_transformer.chat.answering import Answer
from keras_transformer.serving import schemas
from keras_transformer.serving.engine import Engine
from keras_transformer.serving.errors import MESSAGES

DOCS = pathlib.Path(__file__).parents[2] / "docs"
BEFORE_THE_ROUTES = {408, 500, *MESSAGES}
STRATEGIES = {"beam": schemas.BeamStrategy, "sample": schemas.SampleStrategy}


def commands(name):
    """The lines of the code blocks of a page that have no language, without comments."""
    text = (DOCS / name).read_text("utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    lines = [line for language, block in blocks if not language for line in block.splitlines()]
    return [re.sub(r"\s{2,}#.*", "", line) for line in lines]


def tables(language):
    """The tables of the reference: their rows, without the heading, as cells without backticks."""
    text = (DOCS / language / "reference/http.md").read_text("utf-8")
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        yield [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def defaults(schema):
    """The fields of a schema but `kind`, with their defaults in JSON."""
    fields = {name: field for name, field in schema.model_fields.items() if name != "kind"}
    return {name: "" if field.is_required() else json.dumps(field.default) for name, field in fields.items()}


class Telling(Engine):
    def answer_with_attention(self, question, settings):
        return [Answer("A", 0.0)], {"question": ["a"], "answer": ["A"], "weights": [[[[1.0]]]]}


def test_both_languages_show_the_same_commands():
    for name in ("how-to/serving.md", "reference/http.md"):
        assert commands(f"en/{name}") == commands(f"ko/{name}")


def test_every_curl_that_is_shown_works(start, bot):
    address = start(Telling(bot, 20), name="first").address
    shown = [shlex.split(line) for line in commands("en/reference/http.md") if line.startswith("curl")]
    assert len(shown) == 8
    for words in shown:
        [url] = [word for word in words if "://" in word]
        path = url.removeprefix("http://127.0.0.1:8000")
        if "--json" in words:
            data, headers = words[words.index("--json") + 1].encode(), {"Content-Type": "application/json"}
            response = requests.post(address + path, data=data, headers=headers, timeout=300)
        else:
            response = requests.get(address + path, timeout=300)
        assert response.status_code == 200, response.text


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_reference_has_the_paths_and_statuses_of_the_server(language, start):
    description = requests.get(f"{start(name='NAME').address}/openapi.json", timeout=300).json()["paths"]
    paths, *_, errors = tables(language)
    assert {(path, method.lower()) for path, method, _ in paths} == {
        (path, method) for path, methods in description.items() for method in methods
    }
    described = {
        int(status) for methods in description.values() for one in methods.values() for status in one["responses"]
    }
    assert {int(status) for row in errors for status in row[0].split(", ")} == (described | BEFORE_THE_ROUTES) - {200}


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_reference_has_the_fields_and_defaults_of_the_schemas(language):
    _, request, strategies, answer, _ = tables(language)
    assert {name: default for name, default, _ in request} == defaults(schemas.AnswerRequest)
    assert set(defaults(schemas.AnswerRequest)) - set(defaults(schemas.StreamRequest)) == {
        "questions",
        "n_best",
        "attention",
    }
    for kind, schema in STRATEGIES.items():
        assert {name: default for of, name, default, _ in strategies if of == kind} == defaults(schema)
    assert {name for name, _ in answer} == set(schemas.Answer.model_fields)
    [sources] = [meaning for name, meaning in answer if name == "sources"]
    assert re.findall(r"`(\w+)", sources + "`") == list(schemas.Source.model_fields)
