"""A server from its start to its end: uvicorn with a guard against clients that are slow on purpose."""

import asyncio
import socket

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from keras_transformer.serving.app import make_app
from keras_transformer.serving.batcher import Batcher
from keras_transformer.serving.metrics import Metrics

SECONDS_TO_ASK = 10  # In which a client must have sent the whole of a request.
SECONDS_IDLE = 5  # That a connection is kept for a next request.
SECONDS_TO_LEAVE = 10  # After those that an answer may take, until a stop does not wait for clients any more.
CONNECTIONS = 1000
TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    b'{"error":{"message":"the request did not come in time"}}'
)


def run_server(served, listener, name, limits, key=None, on_ready=lambda: None):
    """Serves until SIGTERM or Ctrl-C; then takes no more, and finishes what it has begun.

    Args:
        served: The `Served`.
        listener: A socket that listens.
        name: The model's name in TensorFlow Serving's paths.
        limits: The `Limits`.
        key: The key that clients must show; None for none.
        on_ready: Called when questions are answered.

    Raises:
        KeyboardInterrupt: After Ctrl-C.
    """
    batcher = Batcher(served, limits, Metrics())
    server = make_server(make_app(batcher, name, key), limits)
    asyncio.run(serve(server, batcher, listener, on_ready))


def make_server(app, limits):
    """The uvicorn server of an ASGI application."""
    return uvicorn.Server(uvicorn.Config(
        app, http=Guarded, ws="none", lifespan="off", loop="asyncio", log_config=None, log_level="warning",
        access_log=False, server_header=False, timeout_keep_alive=SECONDS_IDLE,
        timeout_graceful_shutdown=int(limits.timeout) + SECONDS_TO_LEAVE,
    ))  # fmt: skip


async def serve(server, batcher, listener, on_ready):
    """Runs server and batcher, neither without the other."""
    work = asyncio.create_task(warm_up_and_work(batcher, on_ready))
    work.add_done_callback(lambda _: setattr(server, "should_exit", True))
    try:
        await server.serve([listener])
    finally:
        work.cancel()
        batcher.close()
    if work.done():  # By itself, which it does only if it failed.
        await work


async def warm_up_and_work(batcher, on_ready):
    """All that a batcher does."""
    await batcher.warm_up()
    on_ready()
    await batcher.work()


class Guarded(H11Protocol):
    """A connection that is closed when a request is not whole in time; uvicorn alone would wait for ever."""

    def connection_made(self, transport):
        super().connection_made(transport)
        # Or the body of an answer waits, for 40 ms, until its head is acknowledged. asyncio sees to that by itself only
        # where the listening socket was made with the protocol's number.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.clock = None
        self.watch()
        if len(self.connections) > CONNECTIONS:
            transport.close()

    def data_received(self, data):
        super().data_received(data)
        self.watch()

    def on_response_complete(self):
        super().on_response_complete()
        self.watch()

    def connection_lost(self, exc):
        self.stop_clock()
        super().connection_lost(exc)

    def watch(self):
        """Lets the time run while a request is not whole."""
        if self.conn.their_state in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED):
            self.stop_clock()
        elif self.clock is None and not self.transport.is_closing():
            self.clock = self.loop.call_later(SECONDS_TO_ASK, self.time_is_up)

    def stop_clock(self):
        """Stops the time."""
        if self.clock:
            self.clock.cancel()
        self.clock = None

    def time_is_up(self):
        """Closes the connection, with a word if none was said yet."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(TOO_SLOW)
        self.transport.close()
