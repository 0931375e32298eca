"""A server from its port to its end."""

import concurrent.futures
import socket
import time

import pytest
import requests

from keras_transformer.serving import server as server_module
from keras_transformer.serving.sockets import listen


def test_a_stop_takes_no_more_and_finishes_what_was_begun(start, bot):
    server = start()
    bot.goes_on.clear()
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        first = pool.submit(requests.post, f"{server.address}/v1/answer", json={"questions": "first"}, timeout=60)
        while not bot.calls:
            time.sleep(0.002)
        body = {"questions": ["하나", "둘"]}
        asked = [pool.submit(requests.post, f"{server.address}/v1/answer", json=body, timeout=60) for _ in range(3)]
        stream = pool.submit(requests.post, f"{server.address}/v1/stream", json={"question": "a b c"}, timeout=60)
        while server.batcher.waiting < 7:
            time.sleep(0.002)
        server.server.should_exit = True
        refused = False
        while not refused:
            try:
                socket.create_connection(("127.0.0.1", server.port), timeout=60).close()
            except ConnectionError:  # Refused; or reset, if it was still in the line when the server closed its door.
                refused = True
        assert not any(future.done() for future in [first, *asked, stream])
        bot.goes_on.set()
        assert first.result().status_code == 200
        for future in asked:
            answers = future.result().json()["answers"]
            assert [found["answers"][0]["answer"] for found in answers] == ["하나", "둘"]
        assert stream.result().text.endswith('event: end\ndata: {"answer": "ABC"}\n\n')
    server.stop()


def test_a_stop_does_not_wait_for_a_connection_without_a_request(start, monkeypatch):
    monkeypatch.setattr(server_module, "SECONDS_TO_ASK", 1000)
    server = start(timeout=1000)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as idle:
        idle.sendall(b"POST /v1/answer HTTP/1.1\r\nHost:")
        # What has come, but was not read when the server closes, would reset the connection.
        while not any(one.conn.trailing_data[0] for one in list(server.server.server_state.connections)):
            time.sleep(0.002)
        server.stop()
        assert idle.recv(4096) == b""


@pytest.mark.parametrize(
    "part",
    [
        b"",
        b"POST /v1/answer HT",
        b"POST /v1/answer HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_client_that_sends_slowly_is_left(start, bot, monkeypatch, part):
    monkeypatch.setattr(server_module, "SECONDS_TO_ASK", 1.0)  # Enough to send a part on a busy machine.
    server = start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as slow:
        slow.sendall(part)
        answer = b"".join(iter(lambda: slow.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert answer.endswith(b'{"error":{"message":"the request was not complete in time"}}')
    assert not bot.calls


def test_a_slow_second_request_on_the_same_connection_is_left_too(start, monkeypatch):
    monkeypatch.setattr(server_module, "SECONDS_TO_ASK", 1.0)
    body = b'{"questions": "a"}'
    head = b"POST /v1/answer HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    head %= len(body)
    with socket.create_connection(("127.0.0.1", start().port), timeout=60) as slow:
        slow.sendall(head + body + head)
        answer = b"".join(iter(lambda: slow.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"HTTP/1.1 408 Request Timeout\r\n" in answer


def test_an_answer_may_take_longer_than_a_request(start, bot, monkeypatch):
    monkeypatch.setattr(server_module, "SECONDS_TO_ASK", 1.0)
    server = start()
    bot.goes_on.clear()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(requests.post, f"{server.address}/v1/answer", json={"questions": "a"}, timeout=60)
        with pytest.raises(concurrent.futures.TimeoutError):
            asked.result(2.0)
        bot.goes_on.set()
        assert asked.result().status_code == 200


def test_more_connections_than_the_limit_are_closed(start, monkeypatch):
    monkeypatch.setattr(server_module, "CONNECTIONS", 1)
    server = start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as first:
        while not server.server.server_state.connections:
            time.sleep(0.002)
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as second:
            assert second.recv(4096) == b""
        first.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        assert first.recv(4096).startswith(b"HTTP/1.1 200 OK")


def test_no_part_of_an_answer_waits_for_another(start):
    server = start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 200 OK")
        [connection] = server.server.server_state.connections
        assert connection.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_model_that_cannot_warm_up_ends_the_server_with_its_error(bot):
    from keras_transformer.serving.engine import Engine
    from keras_transformer.serving.limits import Limits
    from keras_transformer.serving.server import run_server

    class Broken(Engine):
        def warm_up(self, stop, batch):
            raise RuntimeError("no memory")

    with listen("127.0.0.1", 0) as listener, pytest.raises(RuntimeError, match="no memory"):
        run_server(Broken(bot, 20), listener, "name", Limits())


def test_what_is_no_http_is_refused(start):
    with socket.create_connection(("127.0.0.1", start().port), timeout=60) as strange:
        strange.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert strange.recv(4096).startswith(b"HTTP/1.1 400 Bad Request\r\n")


@pytest.mark.parametrize("upgrade", ["h2c", "websocket"])
def test_a_request_that_offers_another_protocol_is_answered_however_long_it_takes(start, bot, monkeypatch, upgrade):
    monkeypatch.setattr(server_module, "SECONDS_TO_ASK", 0.5)
    server = start()
    bot.goes_on.clear()
    headers = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": upgrade, "HTTP2-Settings": "AAMAAABkAAQ"}
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(
            requests.post, f"{server.address}/v1/answer", json={"questions": "a"}, headers=headers, timeout=60
        )
        with pytest.raises(concurrent.futures.TimeoutError):
            asked.result(1.5)
        bot.goes_on.set()
        assert asked.result().status_code == 200


def test_a_client_that_does_not_read_is_left(start, bot, monkeypatch):
    monkeypatch.setattr(server_module, "SECONDS_TO_READ", 0.5)
    monkeypatch.setattr(bot, "n_best", lambda questions, _: [[("a" * (1 << 24), 0.0)] for _ in questions])
    server = start()
    body = b'{"questions": "a"}'
    head = "POST /v1/answer HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as deaf:
        deaf.sendall(f"{head}{len(body)}\r\n\r\n".encode() + body)
        while not server.server.server_state.connections:
            time.sleep(0.002)
        while server.server.server_state.connections:
            time.sleep(0.002)
        assert len(b"".join(iter(lambda: deaf.recv(1 << 20), b""))) < 1 << 24
