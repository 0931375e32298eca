"""Prometheus metrics of the server."""

import time

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
ROWS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The metrics of one server."""

    def __init__(self):
        self.registry = CollectorRegistry()
        name, about = "keras_transformer_requests", "Requests by route and HTTP status."
        self.requests = Counter(name, about, ["route", "status"], registry=self.registry)
        name, about = (
            "keras_transformer_request_seconds",
            "Seconds from the head of a request to the end of its response.",
        )
        self.seconds = Histogram(name, about, ["route"], buckets=SECONDS, registry=self.registry)
        name, about = "keras_transformer_batch_questions", "Questions per batch."
        self.batches = Histogram(name, about, buckets=ROWS, registry=self.registry)
        name, about = "keras_transformer_queue_questions", "Questions and streams waiting."
        self.queue = Gauge(name, about, registry=self.registry)
        self.batch = self.batches.observe

    def text(self):
        """Returns all metrics in the Prometheus text format, bytes of `CONTENT_TYPE`."""
        return generate_latest(self.registry)


class Measured:
    """ASGI middleware that counts and times requests.

    Args:
        app: The wrapped application.
        metrics: The `Metrics`.
        routes: Paths with their own label; all others are counted as "other", so that clients cannot create labels.
    """

    def __init__(self, app, metrics, routes):
        self.app, self.metrics, self.routes = app, metrics, routes

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, start = "none", time.perf_counter()

        async def send_and_record(message):
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, send_and_record)
        finally:
            route = scope["path"] if scope["path"] in self.routes else "other"
            self.metrics.requests.labels(route, status).inc()
            self.metrics.seconds.labels(route).observe(time.perf_counter() - start)
