"""Whatever a client sends: an answer or an error of its kind, never one of the server's own."""

import asyncio
import json
import string

import pytest
from hypothesis import strategies as st

from keras_transformer import Chatbot
from keras_transformer.chat.answering import Answering
from keras_transformer.serving.app import make_app
from keras_transformer.serving.batcher import Batcher
from keras_transformer.serving.engine import RunEngine
from keras_transformer.serving.limits import Limits
from keras_transformer.serving.metrics import Metrics

from .conftest import BYTES, changed, damaged, texts

pytestmark = pytest.mark.slow
ALLOWED = {200, 307, 400, 403, 404, 405, 413, 415, 422}
ANSWER, STREAM, PREDICT = "/v1/answer", "/v1/stream", "/v1/models/model:predict"
PATHS = [
    ANSWER, STREAM, PREDICT, "/v1/models/model", "/v1/models/model/versions/1", "/health", "/metrics", "/openapi.json",
]  # fmt: skip
SEEDS = [
    (ANSWER, {"questions": ["hello", "배고파"], "answer_by": "retrieve"}),
    (ANSWER, {"questions": "hello", "answer_by": "generate", "attention": True}),
    (ANSWER, {"questions": ["bye"], "n_best": 2, "strategy": {"kind": "beam", "num_beams": 3, "length_penalty": 0.6}}),
    (ANSWER, {"questions": "hello", "strategy": {"kind": "sample", "temperature": 1, "top_p": 0.9, "seed": 1}}),
    (STREAM, {"question": "good night", "strategy": {"kind": "greedy"}}),
    (PREDICT, {"instances": ["hello", {"b64": "aGVsbG8="}, {"questions": "bye"}]}),
    (PREDICT, {"inputs": {"questions": ["hello", "bye"]}, "signature_name": "serving_default"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def ask(run_copy):
    """A function that sends a request to the application, and returns the status, the headers and the body."""
    Answering("hybrid", 0.6).save(run_copy)
    batcher = Batcher(RunEngine(Chatbot.load(run_copy)), Limits(batch=2, programs=8), Metrics())
    app = make_app(batcher, "model")

    async def send_request(method, path, headers, body):
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode("utf-8", "replace"), "query_string": b"", "root_path": "",
            "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2),
        }  # fmt: skip
        asked, sent = [{"type": "http.request", "body": body, "more_body": False}], []

        async def receive():
            return asked.pop() if asked else await asyncio.Event().wait()

        async def send(message):
            sent.append(message)

        await app(scope, receive, send)
        start = sent[0]
        return start["status"], dict(start["headers"]), b"".join(part.get("body", b"") for part in sent[1:])

    with asyncio.Runner() as runner:
        runner.run(batcher.warm_up())
        work = runner.get_loop().create_task(batcher.work())
        yield lambda *request: runner.run(asyncio.wait_for(send_request(*request), 300))
        work.cancel()
        batcher.close()


def in_json(value):
    """A value as a client may write it, half characters and numbers of thousands of digits included."""
    return json.dumps(value).encode()


def posted(path, body):
    return "POST", path, [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))], body


def test_anything_that_clients_send(fuzz, ask):
    def check(request):
        method, path, _, body = request
        status, headers, content = ask(*request)
        assert status in ALLOWED, content
        if (path == "/metrics" and status == 200) or method == "HEAD":
            return
        if headers[b"content-type"].startswith(b"text/event-stream"):
            events = [json.loads(line[6:]) for line in content.decode().splitlines() if line.startswith("data: ")]
            assert "answer" in events[-1]
            assert "".join(event.get("text", "") for event in events) == events[-1]["answer"]
            return
        if status == 307:
            return
        found = json.loads(content)
        if status != 200:
            message = found["error"] if path.startswith("/v1/models/") else found["error"]["message"]
            assert isinstance(message, str) and message and "\n" not in message and "Traceback" not in message
            return
        if path == ANSWER:
            questions = json.loads(body)["questions"]
            questions = [questions] if isinstance(questions, str) else questions
            assert [one["question"] for one in found["answers"]] == questions
            number = json.loads(body).get("n_best", 1)
            assert all(len(one["answers"]) == number for one in found["answers"])
        if path == PREDICT:
            asked = json.loads(body)
            if "instances" in asked:
                assert len(found["predictions"]) == len(asked["instances"])

    seeds = st.sampled_from(SEEDS)
    structured = seeds.flatmap(lambda seed: changed(seed[1]).map(lambda value: posted(seed[0], in_json(value))))
    broken = seeds.flatmap(lambda seed: damaged(in_json(seed[1])).map(lambda body: posted(seed[0], body)))
    other_texts = st.tuples(texts, st.sampled_from(["retrieve", "hybrid", "generate"])).map(
        lambda case: posted(ANSWER, in_json({"questions": [case[0], "hello"], "answer_by": case[1]}))
    )
    names = st.sampled_from([b"content-type", b"authorization", b"origin", b"host", b"accept", b"cookie"])
    values = st.sampled_from(
        [b"application/json", b"application/json; charset=x", b"text/plain", b"null", b"http://evil"]
    )
    length = st.tuples(st.just(b"content-length"), st.sampled_from([b"0", b"5", b"99999999999"]))  # h11 checks it.
    headers = st.lists(st.tuples(names, values | st.binary(max_size=8)) | length, max_size=4)
    methods = st.sampled_from(["GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE"])
    paths = st.sampled_from(PATHS) | st.text(string.printable, max_size=8).map(lambda text: f"/v1/{text}")
    anything = st.tuples(methods, paths, headers, st.sampled_from(BYTES) | st.binary(max_size=20))
    fuzz(structured | broken | other_texts | anything, check, 0.02)
