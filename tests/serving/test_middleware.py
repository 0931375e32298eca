"""What is refused before anything is done for it."""

import asyncio
import contextlib
import http.client

import pytest
import requests

from keras_transformer.serving import middleware
from keras_transformer.serving.limits import MAX_BODY
from keras_transformer.serving.origin import LOCAL, OriginCheck

PATHS = ("/v1/answer", "/v1/stream", "/v1/models/모형:predict")


def post(server, path="/v1/answer", data=b'{"questions": "a"}', **headers):
    headers = {"Content-Type": "application/json", **headers}
    return requests.post(server.address + path, data=data, headers=headers, timeout=300)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """A wrong key is not slowed down."""
    monkeypatch.setattr(middleware, "SECONDS_WRONG_KEY", 0)


@pytest.mark.parametrize("path", PATHS)
def test_without_the_key_nothing_is_answered(start, bot, path):
    server = start(key="secret")
    response = post(server, path)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert "Authorization: Bearer KEY" in str(response.json()["error"])
    assert post(server, path, Authorization="Bearer wrong").status_code == 401
    assert requests.get(f"{server.address}/metrics", timeout=300).status_code == 401
    assert not bot.calls


def test_with_the_key_all_is_open(start):
    server = start(key="secret")
    shown = {"Authorization": "Bearer secret"}
    assert post(server, **shown).status_code == 200
    assert requests.get(f"{server.address}/metrics", headers=shown, timeout=300).status_code == 200


def test_health_and_docs_need_no_key_and_say_that_the_rest_does(start):
    address = start(key="secret").address
    for path in ("/health", "/docs", "/docs/files/swagger-ui.css"):
        assert requests.get(address + path, timeout=300).status_code == 200
    assert requests.get(address, timeout=300).url == f"{address}/docs"
    described = requests.get(f"{address}/openapi.json", timeout=300).json()
    assert described["paths"]["/v1/answer"]["post"]["security"] == [{"HTTPBearer": []}]


def test_who_asks_too_often_is_told_when_to_come_again(start):
    server = start(rate=0.001)
    assert post(server).status_code == 200
    response = post(server)
    assert response.status_code == 429
    assert 990 <= int(response.headers["retry-after"]) <= 1000
    assert response.json()["error"]["message"].startswith("rate limit of 0.001 requests per second exceeded: wait ")
    assert requests.get(f"{server.address}/health", timeout=300).status_code == 200


def test_a_body_that_is_too_large_is_refused_by_its_announcement(start):
    connection = http.client.HTTPConnection("127.0.0.1", start().port, timeout=300)
    connection.putrequest("POST", "/v1/answer")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(MAX_BODY + 1))
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 413
    assert (
        response.read().decode()
        == '{"error":{"message":"the request is too large: at most 1048576 bytes are allowed"}}'
    )
    connection.close()


def test_a_body_that_is_too_large_is_refused_without_an_announcement(start, bot):
    parts = (b" " * 65536 for _ in range(MAX_BODY // 65536 + 1))
    with contextlib.suppress(requests.ConnectionError):  # The server may close while the client still sends.
        assert post(start(), data=parts).status_code == 413
    assert not bot.calls


def test_the_largest_body_is_taken(start):
    body = b'{"questions": "a"}'.ljust(MAX_BODY)
    assert post(start(), data=body).status_code == 200


def test_a_wrong_key_is_logged_without_it_and_slowed_down(start, caplog, monkeypatch):
    waited, sleep = [], asyncio.sleep

    async def note(seconds, *rest):
        waited.append(seconds)
        await sleep(0, *rest)

    monkeypatch.setattr(middleware, "SECONDS_WRONG_KEY", 1234)
    monkeypatch.setattr(middleware.asyncio, "sleep", note)
    server = start(key="secret")
    assert post(server).status_code == 401
    assert 1234 not in waited
    assert post(server, Authorization="Bearer guessed").status_code == 401
    assert waited.count(1234) == 1
    assert "a wrong API key was sent from '127.0.0.1'" in caplog.text
    assert "guessed" not in caplog.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8000"}, 200),
        ({"Host": "attacker.example:8000"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "[::1"}, 403),
        ({"Host": "127.0.0.1:80", "Origin": "http://127.0.0.1:80"}, 200),
        ({"Host": "127.0.0.1:80", "Origin": "http://127.0.0.1:3000"}, 403),
        ({"Origin": "https://attacker.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "chat.example", "Origin": "https://chat.example"}, 200),
    ],
    ids=str,
)
def test_a_server_without_a_key_answers_no_web_page_of_others(start, bot, headers, status):
    server = start(origins=OriginCheck(LOCAL, ["Chat.example"]))
    response = post(server, **headers)
    assert response.status_code == status
    assert len(bot.calls) == (status == 200)
    assert requests.get(f"{server.address}/health", headers=headers, timeout=300).status_code == 200


def test_a_server_on_the_network_has_any_name_but_answers_no_web_page_of_others(start):
    server = start(origins=OriginCheck(None))
    assert post(server, Host="anything").status_code == 200
    assert post(server, Host="anything", Origin="http://anything").status_code == 200
    assert post(server, Host="anything", Origin="http://other").status_code == 403


def test_an_invented_forwarding_does_not_make_another_client(start):
    server = start(rate=0.001)
    statuses = [post(server, **{"X-Forwarded-For": f"192.0.2.{number}"}).status_code for number in range(2)]
    assert statuses == [200, 429]


def test_a_trusted_proxy_names_its_clients(start):
    server = start(rate=0.001, proxies=["127.0.0.1"])
    statuses = [post(server, **{"X-Forwarded-For": f"192.0.2.{number}"}).status_code for number in (1, 2, 1)]
    assert statuses == [200, 200, 429]
