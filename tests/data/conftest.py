import contextlib
import http.server
import re
import threading

import pytest

CONTENT = bytes(range(256)) * 40


class Answer(http.server.BaseHTTPRequestHandler):
    """Answers each request in the way that the server's plan has next; after the plan, well and with ranges."""

    def do_GET(self):
        self.server.ranges.append(self.headers["Range"])
        self.server.encodings.append(self.headers["Accept-Encoding"])
        way = self.server.plan.pop(0) if self.server.plan else "well"
        if isinstance(way, int):
            self.send_error(way)
        else:
            getattr(self, way)()

    def well(self):
        start = int(re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "bytes=0-")[1])
        body = self.server.content[start:]
        if self.headers["Range"] and not body:
            self.send_error(416)
            return
        self.head(206 if self.headers["Range"] else 200, body, start)
        self.wfile.write(body)

    def too_many_requests(self, pause="1"):
        self.send_response(429)
        self.send_header("Retry-After", pause)
        self.send_header("Content-Length", 0)
        self.end_headers()

    def come_back_in_an_eternity(self):
        self.too_many_requests("9" * 30)

    def come_back_when_no_number_says(self):
        self.too_many_requests("9" * 5000)

    def without_ranges(self):
        self.head(200, self.server.content)
        self.wfile.write(self.server.content)

    def cut(self):
        self.head(200, self.server.content)
        self.half()

    def cut_without_saying_the_length(self):
        self.send_response(200)
        self.end_headers()
        self.half()

    def stall(self):
        self.cut()
        self.wfile.flush()
        self.server.over.wait()

    def without_end(self):
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):  # The client leaves.
            while True:
                self.wfile.write(self.server.content)

    def half(self):
        self.wfile.write(self.server.content[: len(self.server.content) // 2])

    def head(self, status, body, start=0):
        self.send_response(status)
        self.send_header("Content-Length", len(body))
        if status == 206:
            whole = len(self.server.content)
            self.send_header("Content-Range", f"bytes {start}-{whole - 1}/{whole}")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    """A server on this machine alone: `content`, a `plan` of how to answer, and what was asked for."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        server.content, server.plan, server.over = CONTENT, [], threading.Event()
        server.ranges, server.encodings = [], []
        server.url = f"http://127.0.0.1:{server.server_port}/말뭉치.bin"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        with contextlib.ExitStack() as stack:
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            stack.callback(server.over.set)
            yield server
