"""Who may use the studio: requests to the application behind its door."""

import asyncio

import pytest

pytest.importorskip("gradio")

from keras_transformer.serving.origin import LOCAL, OriginCheck
from keras_transformer.studio import access
from keras_transformer.studio.access import Door

KEY = "right-key"
HOST = (b"host", b"127.0.0.1:7860")


async def page(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the page"})


@pytest.fixture
def ask(monkeypatch):
    """A function that sends a request through a door and returns the status, the headers and the body."""
    monkeypatch.setattr(access, "SECONDS_WRONG_KEY", 0)

    def ask(door, path="/", headers=(), body=None):
        sent = []

        async def receive():
            return {"type": "http.request", "body": body or b"", "more_body": False}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http", "method": "GET" if body is None else "POST", "path": path, "query_string": b"",
            "headers": [HOST, *headers], "scheme": "http", "server": ("127.0.0.1", 7860),
        }  # fmt: skip
        asyncio.run(door(scope, receive, send))
        return sent[0]["status"], dict(sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])

    return ask


def test_every_page_is_kept_from_other_hosts(ask):
    status, headers, body = ask(Door(page, None, OriginCheck()))
    assert (status, body) == (200, b"the page")
    assert headers[b"content-security-policy"].startswith(b"default-src 'self'; ")
    assert b"http" not in headers[b"content-security-policy"]


@pytest.mark.parametrize(
    "headers", [[(b"host", b"evil.example")], [(b"origin", b"http://evil.example")], [(b"origin", b"null")]]
)
@pytest.mark.parametrize("key", [None, KEY])
def test_pages_of_other_servers_are_refused(ask, headers, key):
    assert ask(Door(page, key, OriginCheck(LOCAL)), headers=headers)[0] == 403


def test_a_browser_gets_in_with_the_key_and_stays_in(ask):
    door = Door(page, KEY, OriginCheck())
    html = [(b"accept", b"text/html"), (b"accept-language", b"ko-KR,ko;q=0.9")]
    status, headers, _body = ask(door, headers=html)
    assert (status, headers[b"location"]) == (303, b"/sign-in")
    status, headers, body = ask(door, "/sign-in", html)
    assert status == 200
    assert 'lang="ko"' in body.decode() and "키" in body.decode()
    status, headers, body = ask(door, "/sign-in", html, b"key=wrong")
    assert status == 401
    assert b"set-cookie" not in headers
    status, headers, _body = ask(door, "/sign-in", html, b"key=right-key")
    cookie = headers[b"set-cookie"]
    assert (status, headers[b"location"]) == (303, b"/")
    assert b"HttpOnly" in cookie and b"SameSite=strict" in cookie and KEY.encode() not in cookie
    assert ask(door, headers=[(b"cookie", cookie.partition(b";")[0])])[2] == b"the page"


def test_without_the_key_nobody_gets_in(ask):
    door = Door(page, KEY, OriginCheck())
    name = access.COOKIE.encode()
    for headers in ([], [(b"authorization", b"Bearer wrong")], [(b"cookie", name + b"=wrong")], [(b"cookie", b"\xff")]):
        assert ask(door, "/en/gradio_api/queue/join", headers, b"{}")[0] == 401
    assert ask(door, "/sign-in", body=b"key=" + b"x" * 5000)[0] == 401
    assert ask(door, headers=[(b"authorization", b"Bearer right-key")])[0] == 200


def test_the_language_is_the_browsers(ask):
    from starlette.requests import Request

    def language(value):
        return access.language_of(Request({"type": "http", "headers": [(b"accept-language", value)]}))

    assert [language(value) for value in (b"ko-KR,ko", b"KO", b"en-GB,ko;q=0.5", b"fr", b"")] == [
        "ko",
        "ko",
        *["en"] * 3,
    ]
