"""Which questions are answered together, in what order, and how many wait."""

import concurrent.futures
import socket
import threading
import time
import types

import pytest
import requests

from keras_transformer.decoding.samplers import Sampling
from keras_transformer.serving import batcher
from keras_transformer.serving.engine import Engine
from keras_transformer.serving.limits import Limits


def ask(server, **body):
    return requests.post(f"{server.address}/v1/answer", json=body, timeout=300)


def answers(response):
    return [found["answers"][0]["answer"] for found in response.json()["answers"]]


@pytest.fixture
def held(bot, start):
    """A server that is busy with a first question until `bot.goes_on` is set, and the pool that asks it."""
    with concurrent.futures.ThreadPoolExecutor(20) as pool:

        def make(**limits):
            server = start(**limits)
            bot.goes_on.clear()
            pool.submit(ask, server, questions="first")
            wait_until(lambda: bot.calls)
            return server, pool

        yield make
        bot.goes_on.set()


def wait_until(true):
    end = time.monotonic() + 300
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_questions_with_equal_settings_are_answered_side_by_side(held, bot):
    server, pool = held()
    asked = [pool.submit(ask, server, questions=[f"q{i}", "same"]) for i in range(5)]
    wait_until(lambda: server.batcher.waiting == 10)
    bot.goes_on.set()
    assert [answers(future.result()) for future in asked] == [[f"Q{i}", "SAME"] for i in range(5)]
    assert len(bot.calls) == 2
    assert sorted(bot.calls[1][0]) == [*(f"q{i}" for i in range(5)), *["same"] * 5]


def test_other_settings_are_answered_apart_and_seeds_too(held, bot):
    server, pool = held()
    settings = [{}, {"min_length": 2}, *({"strategy": {"kind": "sample", "seed": seed}} for seed in (1, 2, 2))]
    asked = [pool.submit(ask, server, questions=f"q{i}", **how) for i, how in enumerate(settings)]
    wait_until(lambda: server.batcher.waiting == 5)
    bot.goes_on.set()
    for future in asked:
        assert future.result().status_code == 200
    together = {frozenset(questions): generation.strategy for questions, generation in bot.calls[1:]}
    assert set(together) == {frozenset(group) for group in (["q0"], ["q1"], ["q2"], ["q3", "q4"])}
    assert together[frozenset(["q3", "q4"])] == Sampling()
    assert together[frozenset(["q3", "q4"])].seed == 2


def test_a_batch_has_no_more_rows_than_the_limit(start, bot):
    assert answers(ask(start(batch=3), questions=list("abcdefgh"))) == list("ABCDEFGH")
    assert [questions for questions, *_ in bot.calls] == [["a", "b", "c"], ["d", "e", "f"], ["g", "h"]]


def test_requests_that_arrive_together_at_an_idle_server_are_one_batch(start, bot, monkeypatch):
    monkeypatch.setattr("keras_transformer.serving.batcher.WINDOW", 30.0)  # The batch is full long before.
    server = start(batch=4)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda question: ask(server, questions=question), "abcd"))
    assert [sorted(questions) for questions, *_ in bot.calls] == [["a", "b", "c", "d"]]


def test_the_model_is_called_by_one_thread_and_never_by_that_of_the_event_loop(start, bot):
    server = start()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: ask(server, questions=f"q{i}", min_length=i % 3), range(40)))
        stream = {"question": "a b c"}
        list(pool.map(lambda _: requests.post(f"{server.address}/v1/stream", json=stream, timeout=300), range(8)))
    assert len(bot.threads) == 1
    assert not bot.threads & {server.thread, threading.main_thread()}


def test_while_the_model_works_health_answers(held):
    server, _ = held()
    assert requests.get(f"{server.address}/health", timeout=300).json() == {"status": "ready"}


def test_a_full_queue_is_said_at_once(held, bot):
    server, pool = held(queue=3)
    asked = pool.submit(ask, server, questions=["a", "b", "c"])
    wait_until(lambda: server.batcher.waiting == 3)
    response = ask(server, questions="d")
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert response.json()["error"]["message"] == "the queue is full: 3 questions are waiting, the limit is 3"
    assert "queue_questions 3.0\n" in requests.get(f"{server.address}/metrics", timeout=300).text
    bot.goes_on.set()
    assert answers(asked.result()) == ["A", "B", "C"]
    assert ask(server, questions="d").status_code == 200


def test_an_empty_queue_takes_a_request_of_any_size(start):
    assert ask(start(queue=1), questions=["a", "b"]).status_code == 200


def test_an_answer_that_takes_too_long_is_given_up(held, bot, monkeypatch):
    server, _ = held()
    with monkeypatch.context() as patch:
        patch.setattr(server.batcher, "limits", Limits(timeout=0.2))  # For this one: the others are in time.
        response = ask(server, questions="late")
    assert response.status_code == 504
    assert response.json()["error"]["message"] == "no answer within 0.2 s"
    bot.goes_on.set()
    wait_until(lambda: server.batcher.waiting == 0)
    assert answers(ask(server, questions="next")) == ["NEXT"]
    assert [questions for questions, *_ in bot.calls] == [["first"], ["next"]]  # Nobody waited for the late one.


def test_a_stream_that_takes_too_long_ends_with_an_error(start, bot, monkeypatch):
    late = []

    def stream(question, generation):
        late.append(1000)
        yield "one"
        bot.goes_on.wait(300)

    monkeypatch.setattr(bot, "stream", stream)
    bot.goes_on.clear()
    server = start()
    # The first piece comes in time, however slow the machine is, and takes the time that was left.
    monkeypatch.setattr(batcher, "time", types.SimpleNamespace(monotonic=lambda: time.monotonic() + sum(late)))
    response = requests.post(f"{server.address}/v1/stream", json={"question": "a"}, timeout=300)
    bot.goes_on.set()
    assert response.text == (
        'event: message\ndata: {"text": "one"}\n\n'
        'event: error\ndata: {"error": {"message": "no answer within 60 s"}}\n\n'
    )


def test_streams_take_turns_with_each_other_and_with_answers(start, bot, monkeypatch):
    order, begun = [], threading.Event()

    def stream(question, generation):
        for i in range(50):
            begun.set()
            if i == 1:
                assert bot.goes_on.wait(300)
            order.append(question)
            yield question

    def n_best(questions, generation):
        order.extend(questions)
        return [[(question, 0.0)] for question in questions]

    monkeypatch.setattr(bot, "stream", stream)
    monkeypatch.setattr(bot, "n_best", n_best)
    bot.goes_on.clear()
    server = start()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        streams = [
            pool.submit(requests.post, f"{server.address}/v1/stream", json={"question": name}, timeout=300)
            for name in "ab"
        ]
        assert begun.wait(300)
        answer = pool.submit(ask, server, questions="c")
        wait_until(lambda: server.batcher.waiting == 3)
        bot.goes_on.set()
        assert answers(answer.result()) == ["c"]
        for one in streams:
            assert one.result().text.endswith("\n\n")
    assert order.index("c") < 6
    assert {"a", "b"} <= set(order[:5])


def test_a_question_without_an_answer_does_not_fail_those_beside_it(held, bot):
    server, pool = held()
    asked = [pool.submit(ask, server, questions=question) for question in ("one", "no answer", "two")]
    wait_until(lambda: server.batcher.waiting == 3)
    bot.goes_on.set()
    one, none, two = (future.result() for future in asked)
    assert (answers(one), answers(two)) == (["ONE"], ["TWO"])
    assert none.status_code == 422
    assert none.json()["error"]["message"] == "no answer with the required words was found"


def test_no_number_of_different_settings_locks_others_out(start):
    server = start(programs=0)
    for length in range(1, 21):
        assert ask(server, questions="a", max_length=length).status_code == 200


def test_nothing_is_computed_for_a_client_that_has_left(held, bot):
    server, pool = held()
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as leaving:
        body = b'{"questions": ["left", "gone"]}'
        head = "POST /v1/answer HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
        leaving.sendall(f"{head}{len(body)}\r\n\r\n".encode() + body)
        wait_until(lambda: server.batcher.waiting == 2)
    staying = pool.submit(ask, server, questions="stays")
    wait_until(lambda: [len(group.rows) for group in list(server.batcher.queued)] == [3])
    wait_until(lambda: server.batcher.waiting == 1)
    bot.goes_on.set()
    assert answers(staying.result()) == ["STAYS"]
    assert [questions for questions, _ in bot.calls] == [["first"], ["stays"]]


def test_before_the_warm_up_has_ended_nothing_is_answered(bot, start):
    goes_on, states = threading.Event(), []

    class Slow(Engine):
        def warm_up(self, stop, batch):
            assert goes_on.wait(300)

    from tests.serving.conftest import Running

    server = Running(Slow(bot, 20))
    for path in ("/health", "/v1/models/모형"):
        states.append(requests.get(server.address + path, timeout=300))
    refused = ask(server, questions="a")
    goes_on.set()
    assert server.ready.wait(300)
    after = requests.get(f"{server.address}/health", timeout=300)
    server.stop()
    assert (states[0].status_code, states[0].json()) == (503, {"status": "warming up"})
    assert states[1].json()["model_version_status"][0]["state"] == "LOADING"
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert (after.status_code, after.json()) == (200, {"status": "ready"})
