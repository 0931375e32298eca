"""A real run behind the server."""

import concurrent.futures
import json
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
import requests

from keras_transformer import Beam, Chatbot, GenerationConfig, InputError, Sampling
from keras_transformer.chat.answering import Answering
from keras_transformer.decoding import loop
from keras_transformer.serving import engine
from keras_transformer.serving.engine import ExportEngine, RunEngine, Settings

GENERATED = {"answered_by": "generate", "unsure": False, "sources": []}
QUESTIONS = [
    "잘 자",
    "hello",
    "",
    "고마워!",
    "good night",
    "배고파",
    "안녕하세요 " * 5,
    "bye",
    "안녕하세요",
    "처음 뵙겠습니다",
]


@pytest.fixture(scope="module")
def chatbot(small_run):
    return Chatbot.load(small_run)


@pytest.fixture
def server(start, chatbot):
    return start(RunEngine(chatbot), batch=2, timeout=600)  # Programs are compiled for some of the answers.


def ask(server, **body):
    response = requests.post(f"{server.address}/v1/answer", json=body, timeout=600)
    assert response.status_code == 200, response.text
    return response.json()["answers"]


def best(server, question, **how):
    [found] = ask(server, questions=question, **how)
    return found["answers"][0]["answer"]


def test_clients_at_the_same_time_get_what_each_gets_alone(server, chatbot):
    hows = [({}, None), ({"strategy": {"kind": "sample", "seed": 5}}, Sampling(seed=5))]
    asked = [(question, how, strategy) for how, strategy in hows for question in QUESTIONS]
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        found = list(pool.map(lambda one: best(server, one[0], **one[1]), asked))
    assert found == [chatbot.reply(question, strategy) for question, _, strategy in asked]
    assert server.batcher.metrics.batches._sum.get() == len(asked)


def test_several_answers_are_those_of_the_chatbot(server, chatbot):
    [found] = ask(server, questions="hello", n_best=3)
    expected = chatbot.n_best(["hello"], GenerationConfig(Beam(), num_return=3))[0]
    assert [answer["answer"] for answer in found["answers"]] == [answer for answer, _ in expected]
    np.testing.assert_allclose([answer["score"] for answer in found["answers"]], [score for _, score in expected])


def test_a_stream_is_the_reply(server, chatbot):
    body = {"question": "good night"}
    response = requests.post(f"{server.address}/v1/stream", json=body, timeout=600)
    end = json.loads(response.content.decode().rpartition("event: end\ndata: ")[2])
    assert (end["answer"], end["answered_by"]) == ("Sleep well.", "generate")
    assert end["score"] == pytest.approx(chatbot.n_best(["good night"])[0][0][1], abs=1e-3)
    assert end["sources"][0]["question"].startswith("good night")


def test_attention_is_told_for_each_piece(server, chatbot):
    found, blank = ask(server, questions=["good night", " "], attention=True)
    assert found["answers"][0]["answer"] == "Sleep well."
    attention = found["attention"]
    assert (attention["question"][0], attention["question"][-1]) == ("<start>", "<end>")
    assert "".join(attention["question"][1:-1]).replace("▁", "") == "goodnight"
    assert "".join(attention["answer"]).replace("▁", "") == "Sleepwell.<end>"
    weights = np.array(attention["weights"])
    assert weights.shape == (1, 2, len(attention["answer"]), len(attention["question"]))
    np.testing.assert_allclose(weights.sum(-1), 1, atol=0.002)
    assert "attention" not in blank
    assert blank["answers"] == [{"answer": "", "score": 0.0, **GENERATED}]


def test_after_the_warm_up_no_greedy_question_compiles_anything(server, chatbot, monkeypatch):
    traced = []
    for name in ("start", "advance"):
        monkeypatch.setattr(loop, name, lambda *_: traced.append("a program"))
    for number in (1, 2):
        for question in ("hi", "hello " * 20, "안녕하세요 " * 3):
            ask(server, questions=[question] * number)
            requests.post(f"{server.address}/v1/stream", json={"question": question}, timeout=600)
    assert not traced


def test_a_warm_up_can_be_stopped(chatbot, monkeypatch):
    called = []
    monkeypatch.setattr(chatbot, "generate", lambda *_, **__: called.append(1))
    stop = threading.Event()
    stop.set()
    RunEngine(chatbot).warm_up(stop, 16)
    assert not called


def test_a_run_that_retrieves_is_ready_at_once(small_run, tmp_path, monkeypatch):
    shutil.copytree(small_run, tmp_path / "run")
    Answering("retrieve").save(tmp_path / "run")
    bot = Chatbot.load(tmp_path / "run")
    called = []
    monkeypatch.setattr(bot, "generate", lambda *_, **__: called.append(1))
    RunEngine(bot).warm_up(threading.Event(), 16)
    assert not called


def test_attention_is_returned_for_as_many_questions_as_a_response_may_hold(chatbot):
    engine = RunEngine(chatbot)  # 1 layer, 2 heads, answers of 23 tokens, questions of 24: 1,104 weights each.
    engine.accept(Settings(attention=True), 452)
    with pytest.raises(InputError, match="attention is returned for at most 452 questions of this model at once"):
        engine.accept(Settings(attention=True), 453)
    engine.accept(Settings(), 453)


def test_a_question_whose_attention_is_large_is_answered_alone(chatbot, monkeypatch):
    monkeypatch.setattr(engine, "MAX_WEIGHTS", 1)
    RunEngine(chatbot).accept(Settings(attention=True), 1)


def test_what_the_run_cannot_answer_is_refused(chatbot):
    engine = RunEngine(chatbot)
    with pytest.raises(InputError, match="min_length 24 is more than max_length 23"):
        engine.accept(Settings(GenerationConfig(min_length=24)))
    with pytest.raises(InputError, match="min_length 24 is more than max_length 23"):
        engine.accept(Settings(GenerationConfig(min_length=24, max_length=30)))
    default = Settings(GenerationConfig(max_length=23), answer_by="generate")
    alike = [Settings(GenerationConfig(max_length=limit)) for limit in (None, 23, 1000)]
    for settings in (*alike, Settings(), Settings(answer_by="generate")):
        assert engine.accept(settings) == default


class Exported:
    """What an exported folder is to a server."""

    max_length, way = 5, "generate"

    def n_best(self, questions, generation=None):
        return [[(question.upper(), -0.5)] for question in questions]

    def stream(self, question, generation=None):
        yield question.upper()


def test_an_export_answers_in_one_way(start):
    server = start(ExportEngine(Exported()), batch=2)
    assert ask(server, questions=["가 a", "b"], max_length=7) == [
        {"question": "가 a", "answers": [{"answer": "가 A", "score": -0.5, **GENERATED}]},
        {"question": "b", "answers": [{"answer": "B", "score": -0.5, **GENERATED}]},
    ]
    for how in ({"n_best": 2}, {"attention": True}, {"max_length": 2}, {"strategy": {"kind": "beam"}}):
        refused = requests.post(f"{server.address}/v1/answer", json={"questions": "a", **how}, timeout=600)
        assert refused.status_code == 422
        assert "the settings of this model were fixed at export" in refused.json()["error"]["message"]
    predicted = requests.post(f"{server.address}/v1/models/모형:predict", json={"instances": ["a"]}, timeout=600)
    assert predicted.json() == {"predictions": [{"answers": "A", "scores": -0.5}]}
    predicted = requests.post(f"{server.address}/v1/models/모형:predict", json={"inputs": ["a", "b"]}, timeout=600)
    assert predicted.json() == {"outputs": {"answers": ["A", "B"], "scores": [-0.5, -0.5]}}


def test_a_run_answers_in_its_own_way_unless_a_request_says_otherwise(start, small_run, tmp_path):
    shutil.copytree(small_run, tmp_path / "run")
    Answering("retrieve").save(tmp_path / "run")
    server = start(RunEngine(Chatbot.load(tmp_path / "run")), batch=1, timeout=600)
    [found] = ask(server, questions="hello")
    [answer] = found["answers"]
    assert (answer["answer"], answer["score"], answer["answered_by"]) == ("Hi there!", None, "retrieve")
    assert answer["sources"][0]["question"] == "hello"
    for how in ({"answer_by": "generate"}, {"strategy": {"kind": "greedy"}}, {"min_length": 1}, {"n_best": 2}):
        [found] = ask(server, questions="hello", **how)
        answer = found["answers"][0]
        assert (answer["answer"], answer["answered_by"]) == ("Hi there!", "generate")
        assert answer["score"] < 0
    predicted = requests.post(f"{server.address}/v1/models/모형:predict", json={"instances": ["hello"]}, timeout=600)
    assert predicted.json() == {"predictions": [{"answers": "Hi there!", "scores": None}]}
    streamed = requests.post(f"{server.address}/v1/stream", json={"question": "hello"}, timeout=600)
    end = json.loads(streamed.content.decode().rpartition("event: end\ndata: ")[2])
    assert (end["answer"], end["score"], end["answered_by"]) == ("Hi there!", None, "retrieve")
    body = {"questions": "a", "answer_by": "hybrid", "strategy": {"kind": "beam"}}
    refused = requests.post(f"{server.address}/v1/answer", json=body, timeout=600)
    assert refused.status_code == 422
    assert "answers by hybrid: leave out" in refused.json()["error"]["message"]
    Chatbot.load(tmp_path / "run").datastore.teach("hello", "Howdy!")
    for how in ({}, {"strategy": {"kind": "greedy"}}):
        assert best(server, "hello", **how) == "Howdy!"


RETRIEVING = """
import pathlib, sys, threading
from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.cli.serve import make_engine
from keras_transformer.serving import server
from keras_transformer.serving.engine import Settings

def answer(**settings):
    [([answer], _)] = engine.n_best(["hello"], engine.accept(Settings(**settings)))
    return answer.text, bool({"keras", "tensorflow"} & set(sys.modules))

engine = make_engine(pathlib.Path(sys.argv[1]))
engine.warm_up(threading.Event(), 2)
engine.limit_programs(0)
print(answer(), answer(answer_by="generate"))
"""


@pytest.mark.slow  # Starts a program.
def test_a_run_that_retrieves_is_served_without_keras_until_an_answer_is_generated(small_run, tmp_path):
    shutil.copytree(small_run, tmp_path / "run")
    Answering("retrieve").save(tmp_path / "run")
    process = subprocess.run(
        [sys.executable, "-c", RETRIEVING, tmp_path / "run"], capture_output=True, text=True, check=True
    )
    assert process.stdout == "('Hi there!', False) ('Hi there!', True)\n"


def test_a_bot_that_memorized_its_corpus_replies_to_who_asks_about_itself(start, small_run, tmp_path, monkeypatch):
    shutil.copytree(small_run, tmp_path / "run")
    Answering("retrieve").save(tmp_path / "run")
    bot, about = Chatbot.load(tmp_path / "run"), "What can I ask?"
    bot.memorized = True
    engine = RunEngine(bot)
    settings = engine.accept(Settings())
    [([answer], _), ([known], _)] = engine.n_best([about, "hello"], settings)
    reply, *examples = answer.text.splitlines()
    assert (reply, len(examples)) == ("I am a bot that answers set questions, for example:", 3)
    assert (answer.answered_by, known.answered_by) == ("courtesy", "retrieve")
    assert list(engine.stream(about, settings)) == [answer.text, answer]
    monkeypatch.setattr(bot, "answers", None)  # Nothing else is asked for.
    assert engine.n_best([about], settings) == [([answer], None)]
    server = start(engine, batch=2, timeout=600)
    [found] = ask(server, questions=about)
    assert found["answers"] == [answer.to_dict()]
    streamed = requests.post(f"{server.address}/v1/stream", json={"question": about}, timeout=600).text
    last = json.loads(streamed.rstrip().splitlines()[-1].removeprefix("data: "))
    assert last == answer.to_dict()
    monkeypatch.undo()
    limited = engine.accept(Settings(GenerationConfig(forbidden=("bot",)), answer_by="retrieve"))
    [([answer], _)] = engine.n_best([about], limited)
    assert answer.answered_by == "retrieve"


def test_the_limit_of_programs_applies_from_the_first_answer_that_may_be_generated(chatbot, monkeypatch):
    limits = []
    monkeypatch.setattr("keras_transformer.decoding.generate.limit_programs", lambda model, most: limits.append(most))
    engine = RunEngine(chatbot)
    engine.limit_programs(3)
    engine.n_best(["hello"], engine.accept(Settings(answer_by="retrieve")))
    assert limits == []
    for _ in range(2):
        engine.n_best(["hello"], engine.accept(Settings()))
        list(engine.stream("hello", engine.accept(Settings())))
    assert limits == [3]


def test_an_export_generates_only():
    engine = ExportEngine(Exported())
    assert engine.accept(Settings(answer_by="generate")) == engine.accept(Settings())
    with pytest.raises(InputError, match="answers by generate only, not by retrieve"):
        engine.accept(Settings(answer_by="retrieve"))


def test_an_export_that_retrieves_says_so():
    exported = Exported()
    exported.way, exported.n_best = "retrieve", lambda questions, *_: [[("Howdy!", None)] for _ in questions]
    engine = ExportEngine(exported)
    settings = engine.accept(Settings(answer_by="retrieve"))
    [([answer], _)] = engine.n_best(["hello"], settings)
    assert (answer.text, answer.answered_by, answer.score) == ("Howdy!", "retrieve", None)
    with pytest.raises(InputError, match="answers by retrieve only, not by generate"):
        engine.accept(Settings(answer_by="generate"))
