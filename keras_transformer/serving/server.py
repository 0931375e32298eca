"""Runs the server: uvicorn with timeouts for clients that send or read slowly."""

import asyncio
import socket

import h11
import uvicorn

from keras_transformer.compat import h11_protocol
from keras_transformer.serving.app import make_app
from keras_transformer.serving.batcher import Batcher
from keras_transformer.serving.logs import limited_logs
from keras_transformer.serving.metrics import Metrics

SECONDS_TO_ASK = 10  # Timeout for receiving a complete request.
SECONDS_TO_READ = 30  # Timeout for reading what was sent of a response.
SECONDS_IDLE = 5  # Keep-alive timeout of an idle connection.
SECONDS_TO_LEAVE = 10  # Grace period of a shutdown, in addition to the timeout of an answer.
CONNECTIONS = 1000
TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    b'{"error":{"message":"the request was not complete in time"}}'
)


def run_server(engine, listener, name, limits, key=None, origins=None, proxies=(), on_ready=lambda: None):
    """Serves until SIGTERM or Ctrl-C; then accepts no more requests and finishes those in progress.

    Args:
        engine: The `Engine`.
        listener: A listening socket.
        name: The model's name in TensorFlow Serving's paths.
        limits: The `Limits`.
        key: The API key that clients must send; None for no key.
        origins: The `OriginCheck`; None if any web page may send requests.
        proxies: Addresses and networks of proxies, whose header X-Forwarded-For names the client.
        on_ready: Function that is called when the server is ready.

    Raises:
        KeyboardInterrupt: After Ctrl-C.
    """
    batcher = Batcher(engine, limits, Metrics())
    server = make_server(make_app(batcher, name, key, origins), limits, proxies)
    with limited_logs():
        asyncio.run(serve(server, batcher, listener, on_ready))


def make_server(app, limits, proxies=()):
    """Returns the uvicorn server of an ASGI application, which believes X-Forwarded-For of these proxies only."""
    return uvicorn.Server(uvicorn.Config(
        app, http=Guarded, ws="none", lifespan="off", loop="asyncio", log_config=None, log_level="warning",
        access_log=False, server_header=False, timeout_keep_alive=SECONDS_IDLE,
        proxy_headers=bool(proxies), forwarded_allow_ips=list(proxies),
        timeout_graceful_shutdown=int(limits.timeout) + SECONDS_TO_LEAVE,
    ))  # fmt: skip


async def serve(server, batcher, listener, on_ready):
    """Runs the server and the batcher; when one ends, the other is stopped."""
    work = asyncio.create_task(warm_up_and_work(batcher, on_ready))
    work.add_done_callback(lambda _: setattr(server, "should_exit", True))
    try:
        await server.serve([listener])
    finally:
        work.cancel()
        batcher.close()
    if work.done():  # It ends by itself only on failure: raise its exception.
        await work


async def warm_up_and_work(batcher, on_ready):
    """Warms up the batcher, reports readiness, then processes jobs."""
    await batcher.warm_up()
    on_ready()
    await batcher.work()


class Guarded(h11_protocol()):  # type: ignore[misc] # Known only when uvicorn is imported.
    """A connection with timeouts for incomplete requests and for unread responses; uvicorn itself has none."""

    def connection_made(self, transport):
        super().connection_made(transport)
        # Without TCP_NODELAY, the body of a response is delayed by 40 ms until its head is acknowledged. asyncio sets
        # it only if the listening socket was created with the protocol number.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Writing is paused, and the clock runs, as soon as the client does not read all.
        transport.set_write_buffer_limits(0)
        self.clock = self.read_clock = None
        self.watch()
        if len(self.connections) > CONNECTIONS:
            transport.close()

    def data_received(self, data):
        super().data_received(data)
        self.watch()

    def on_response_complete(self):
        super().on_response_complete()
        self.watch()

    def pause_writing(self):
        super().pause_writing()
        self.read_clock = self.loop.call_later(SECONDS_TO_READ, self.transport.abort)

    def resume_writing(self):
        super().resume_writing()
        self.stop_read_clock()

    def connection_lost(self, exc):
        self.stop_clock()
        self.stop_read_clock()
        super().connection_lost(exc)

    def watch(self):
        """Starts the timeout while a request is incomplete, and stops it otherwise."""
        # A request for an upgrade of the protocol is complete, too, and answered without the upgrade.
        if self.conn.their_state in (h11.DONE, h11.MIGHT_SWITCH_PROTOCOL, h11.MUST_CLOSE, h11.CLOSED):
            self.stop_clock()
        elif self.clock is None and not self.transport.is_closing():
            self.clock = self.loop.call_later(SECONDS_TO_ASK, self.time_is_up)

    def stop_clock(self):
        """Cancels the timeout."""
        if self.clock:
            self.clock.cancel()
        self.clock = None

    def stop_read_clock(self):
        """Cancels the timeout for reading."""
        if self.read_clock:
            self.read_clock.cancel()
        self.read_clock = None

    def time_is_up(self):
        """Closes the connection, with an error response if none was started."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(TOO_SLOW)
        self.transport.close()
