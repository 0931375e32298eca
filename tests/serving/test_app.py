"""What the routes answer, asked over HTTP, of a chatbot that says the question in capitals."""

import base64
import json
import re

import pytest
import requests

from keras_transformer.decoding.beam_search import Beam
from keras_transformer.decoding.config import GenerationConfig
from keras_transformer.decoding.samplers import Sampling

GENERATED = {"answered_by": "generate", "unsure": False, "sources": []}


def ask(server, path="/v1/answer", **body):
    return requests.post(server.address + path, json=body, timeout=300)


def message_of(response):
    """The message of an error, which is all that it says."""
    assert set(response.json()) == {"error"}
    assert set(response.json()["error"]) == {"message"}
    return response.json()["error"]["message"]


def events_of(response):
    """The events of a stream, pairs of kind and data."""
    found = re.findall(r"event: (\w+)\ndata: (.*)\n\n", response.content.decode())
    return [(kind, json.loads(data)) for kind, data in found]


def test_one_question_and_several_are_answered_in_the_same_form(start):
    server = start()
    one = ask(server, questions="hello").json()
    assert one == {"answers": [{"question": "hello", "answers": [{"answer": "HELLO", "score": 0.0, **GENERATED}]}]}
    many = ask(server, questions=["b", "a", ""]).json()["answers"]
    assert [(found["question"], found["answers"][0]["answer"]) for found in many] == [("b", "B"), ("a", "A"), ("", "")]


def test_korean_is_sent_as_it_is(start):
    response = ask(start(), questions="안녕하세요")
    assert response.headers["content-type"] == "application/json"
    assert "안녕하세요".encode() in response.content


def test_settings_reach_the_chatbot(start, bot):
    server = start()
    beam = {"kind": "beam", "num_beams": 3, "length_penalty": 1.0}
    found = ask(server, questions="a", strategy=beam, n_best=2, max_length=5, min_length=2).json()["answers"][0]
    assert [answer["score"] for answer in found["answers"]] == [0, -1]
    ask(server, questions="a", strategy={"kind": "sample", "top_k": 7, "seed": 3}, repetition_penalty=1.5)
    ask(server, questions="a", n_best=6, no_repeat_ngram=2)
    ask(server, questions="a", forbidden=["고양이"])
    ask(server, questions="a", required=["고양이"])
    assert bot.calls == [
        (["a"], GenerationConfig(Beam(3, 1.0), 2, max_length=5, min_length=2)),
        (["a"], GenerationConfig(Sampling(top_k=7), max_length=20, repetition_penalty=1.5)),
        (["a"], GenerationConfig(Beam(6), 6, max_length=20, no_repeat_ngram=2)),
        (["a"], GenerationConfig(max_length=20, forbidden=["고양이"])),
        (["a"], GenerationConfig(Beam(4), max_length=20, required=["고양이"])),
    ]
    assert bot.calls[1][1].strategy.seed == 3


def test_a_longer_answer_than_the_model_makes_is_no_setting_of_its_own(start, bot):
    ask(start(), questions="a", max_length=1000)
    assert bot.calls == [(["a"], GenerationConfig(max_length=20))]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "questions: Field required"),
        ({"questions": "a", "beams": 3}, "beams: Extra inputs are not permitted"),
        ({"questions": "a", "forbidden": [" "]}, "a forbidden word is blank"),
        ({"questions": "a", "required": ["a"], "strategy": {"kind": "greedy"}}, "required words need beam search"),
        ({"questions": "a", "forbidden": ["a"] * 21}, "forbidden: List should have at most 20 items"),
        ({"questions": 3}, "questions: Input should be a question or a list of questions"),
        ({"questions": []}, "at least 1 item"),
        ({"questions": ["a", 3]}, "questions.1: Input should be a valid string"),
        ({"questions": ["a"] * 101}, "at most 100 items"),
        ({"questions": "a" * 10_001}, "at most 10000 characters"),
        ({"questions": "a", "n_best": "2"}, "n_best: Input should be a valid integer"),
        ({"questions": "a", "n_best": 17}, "n_best: Input should be less than or equal to 16"),
        ({"questions": "a", "strategy": {"kind": "magic"}}, "strategy: Input tag 'magic'"),
        ({"questions": "a", "strategy": {"kind": "sample", "temperature": 0}}, "strategy.sample.temperature: Input"),
        ({"questions": "a", "strategy": {"kind": "greedy"}, "n_best": 2}, "greedy decoding finds one answer, not 2"),
        ({"questions": "a", "strategy": {"kind": "beam", "num_beams": 2}, "n_best": 3}, "take more beams"),
        ({"questions": "a", "min_length": 21}, "min_length 21 is more than max_length 20"),
        ({"questions": "a", "attention": True}, "this model does not support attention: leave it out"),
        ({"questions": "a", "\ud800": 1}, "unable to parse raw data as a unicode string"),
        ({"questions": "\ud800"}, "unable to parse raw data as a unicode string"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(start, bot, body, message):
    response = ask(start(), **body)
    assert response.status_code == 422
    assert message in message_of(response)
    assert "\n" not in message_of(response)


@pytest.mark.parametrize("body", [b"", b"{", b"hello", b"\xff\xfe", b'{"questions": "a"', b"[" * 100_000], ids=len)
def test_what_is_no_json_is_said_so(start, body):
    headers = {"Content-Type": "application/json"}
    response = requests.post(start().address + "/v1/answer", data=body, headers=headers, timeout=300)
    assert response.status_code in (400, 422)
    assert message_of(response)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "text/json"])
def test_what_a_web_page_may_send_unasked_is_no_request(start, bot, kind):
    server, headers = start(), {"Content-Type": kind} if kind else {}
    response = requests.post(server.address + "/v1/answer", data='{"questions": "a"}', headers=headers, timeout=300)
    assert response.status_code == 415
    assert message_of(response).endswith("send the header Content-Type: application/json")
    assert not bot.calls


def test_json_may_name_its_encoding(start):
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    response = requests.post(start().address + "/v1/answer", data='{"questions": "a"}', headers=headers, timeout=300)
    assert response.json()["answers"][0]["answers"][0]["answer"] == "A"


def test_other_paths_and_methods_are_errors_of_the_same_form(start):
    server = start()
    assert requests.get(f"{server.address}/v2/answer", timeout=300).status_code == 404
    assert "/docs" in message_of(requests.get(f"{server.address}/v2/answer", timeout=300))
    assert requests.get(f"{server.address}/v1/answer", timeout=300).status_code == 405


def test_a_failure_tells_clients_nothing_of_the_inside(start, caplog):
    server = start()
    response = ask(server, questions="부서져라")
    assert response.status_code == 500
    assert message_of(response) == "internal server error: see the server's log"
    server.stop()
    assert "/home/me/model" in caplog.text


def test_a_stream_is_the_answer_in_pieces_and_then_whole(start):
    response = ask(start(), "/v1/stream", question="안녕 my friend")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert events_of(response) == [
        ("message", {"text": "안녕"}), ("message", {"text": "MY"}), ("message", {"text": "FRIEND"}),
        ("end", {"answer": "안녕MYFRIEND"}),
    ]  # fmt: skip
    assert "안녕".encode() in response.content


def test_a_stream_of_nothing_is_an_empty_answer(start):
    assert events_of(ask(start(), "/v1/stream", question=" ")) == [("end", {"answer": ""})]


def test_a_stream_that_cannot_be_is_refused_before_it_begins(start):
    response = ask(start(), "/v1/stream", question="a", min_length=21)
    assert response.status_code == 422
    assert message_of(response) == "min_length 21 is more than max_length 20"


def test_a_client_that_leaves_a_stream_ends_it(start, bot):
    server = start()
    with requests.post(
        f"{server.address}/v1/stream", json={"question": "a " * 5000}, stream=True, timeout=300
    ) as response:
        next(response.iter_content(1))
    assert bot.left.wait(300)


def predict(server, path="", **body):
    return ask(server, f"/v1/models/모형{path}:predict", **body)


def test_tensorflow_serving_by_rows(start):
    server, coded = start(), base64.b64encode("안녕".encode()).decode()
    assert predict(server, instances=["a", {"questions": "b"}, {"b64": coded}]).json() == {
        "predictions": [{"answers": "A", "scores": 0}, {"answers": "B", "scores": 0}, {"answers": "안녕", "scores": 0}]
    }


@pytest.mark.parametrize("inputs", [["a", "b"], {"questions": ["a", {"b64": "Yg=="}]}], ids=str)
def test_tensorflow_serving_by_columns(start, inputs):
    found = predict(start(), "/versions/1", signature_name="serving_default", inputs=inputs)
    assert found.json() == {"outputs": {"answers": ["A", "B"], "scores": [0, 0]}}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, 'Input should be an object with "instances" or "inputs"'),
        ({"instances": []}, "instances: List should have at least 1 item"),
        ({"instances": "a"}, "instances: Input should be a valid list"),
        ({"instances": [["a"]]}, "instances.0: Input should be a question"),
        ({"instances": [1]}, "instances.0: Input should be a question"),
        ({"instances": ["a"], "inputs": ["a"]}, "Extra inputs are not permitted"),
        ({"instances": ["a"], "signature_name": "x"}, "signature_name: Input should be 'serving_default'"),
        ({"instances": [{"b64": "!"}]}, "instances.0.b64: not UTF-8 text in base64"),
        ({"instances": [{"b64": "/w=="}]}, "instances.0.b64: not UTF-8 text in base64"),
        ({"instances": [{"b64": "YWFh" * 3334}]}, "instances.0.b64: more than 10000 characters in base64"),
        ({"inputs": {"x": ["a"]}}, "inputs: Input should be a list of questions"),
        ({"inputs": "a"}, "inputs: Input should be a list of questions"),
    ],
)
def test_errors_of_tensorflow_serving_are_as_its_own(start, body, message):
    response = predict(start(), **body)
    assert response.status_code == 400
    assert message in response.json()["error"]


def test_another_model_is_not_there(start):
    response = ask(start(), "/v1/models/other:predict", instances=["a"])
    assert response.status_code == 404
    assert isinstance(response.json()["error"], str)


def test_the_state_of_the_model_as_tensorflow_serving_gives_it(start):
    server = start()
    status = {"error_code": "OK", "error_message": ""}
    expected = {"model_version_status": [{"version": "1", "state": "AVAILABLE", "status": status}]}
    for path in ("", "/versions/1"):
        assert requests.get(f"{server.address}/v1/models/모형{path}", timeout=300).json() == expected


def test_the_page_of_docs_loads_nothing_from_elsewhere(start):
    address = start().address
    page = requests.get(address, timeout=300)  # It leads to /docs.
    assert page.url == f"{address}/docs"
    assert page.headers["content-security-policy"] == "default-src 'self' 'unsafe-inline' data:"
    parts = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    assert len(parts) == 3
    for part in parts:
        assert part.startswith("/docs/files/")
        assert requests.get(address + part, timeout=300).status_code == 200
    assert "://" not in page.text
    assert requests.get(f"{address}/openapi.json", timeout=300).json()["openapi"].startswith("3.1")


def test_metrics_count_requests_by_route_and_status(start):
    server = start()
    ask(server, questions=["a", "b"])
    ask(server)
    requests.get(f"{server.address}/made/up", timeout=300)
    ask(server, "/v1/stream", question="a b")
    lines = requests.get(f"{server.address}/metrics", timeout=300).text.splitlines()
    assert 'keras_transformer_requests_total{route="/v1/answer",status="200"} 1.0' in lines
    assert 'keras_transformer_requests_total{route="/v1/answer",status="422"} 1.0' in lines
    assert 'keras_transformer_requests_total{route="other",status="404"} 1.0' in lines
    assert 'keras_transformer_request_seconds_count{route="/v1/answer"} 2.0' in lines
    assert "keras_transformer_batch_questions_sum 2.0" in lines
    assert 'keras_transformer_requests_total{route="/v1/stream",status="200"} 1.0' in lines
    assert "keras_transformer_queue_questions 0.0" in lines  # Neither questions nor streams are left.
