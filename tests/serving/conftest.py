import asyncio
import threading

import pytest

from keras_transformer.errors import InputError


class Scripted:
    """Answers every question by itself in capitals, and notes what it was asked together.

    Attributes:
        calls: The questions of each call of `n_best`, with the `GenerationConfig`.
        goes_on: While cleared, every answer and every piece of a stream waits.
        left: Set when a stream was closed before its end.
        threads: Those that called.
    """

    def __init__(self):
        self.calls, self.threads = [], set()
        self.goes_on, self.left = threading.Event(), threading.Event()
        self.goes_on.set()

    def n_best(self, questions, generation):
        self.threads.add(threading.current_thread())
        self.calls.append((questions, generation))
        assert self.goes_on.wait(300)
        if "no answer" in questions:
            raise InputError("no answer with the required words was found")
        if "부서져라" in questions:
            raise RuntimeError("a path that clients must not see: /home/me/model")
        return [[(question.strip().upper(), -float(i)) for i in range(generation.num_return)] for question in questions]

    def stream(self, question, generation):
        self.threads.add(threading.current_thread())
        try:
            for word in question.upper().split():
                assert self.goes_on.wait(300)
                yield word
        except GeneratorExit:
            self.left.set()
            raise


class Running:
    """A server in a thread of its own.

    Args:
        engine: The `Engine`.
        key: Its API key.
        name: The model's name.
        origins: Its `OriginCheck`.
        proxies: The proxies that it trusts.
        limits: Those that are not the defaults.
    """

    def __init__(self, engine, key=None, name="모형", origins=None, proxies=(), **limits):
        from keras_transformer.serving.app import make_app
        from keras_transformer.serving.batcher import Batcher
        from keras_transformer.serving.limits import Limits
        from keras_transformer.serving.metrics import Metrics
        from keras_transformer.serving.server import make_server, serve
        from keras_transformer.serving.sockets import address_of, listen

        limits, listener, ready = Limits(**limits), listen("127.0.0.1", 0), threading.Event()
        self.address, self.port = address_of(listener), listener.getsockname()[1]
        self.batcher = Batcher(engine, limits, Metrics())
        self.server = make_server(make_app(self.batcher, name, key, origins), limits, proxies)
        self.thread = threading.Thread(
            target=lambda: asyncio.run(serve(self.server, self.batcher, listener, ready.set))
        )
        self.ready = ready
        self.thread.start()

    def stop(self):
        self.server.should_exit = True
        self.thread.join(300)
        assert not self.thread.is_alive()


@pytest.fixture
def bot():
    return Scripted()


@pytest.fixture
def start(bot):
    """A function that starts a server and returns it when it is ready."""
    running = []

    def make(engine=None, **options):
        from keras_transformer.serving.engine import Engine

        running.append(Running(engine or Engine(bot, max_length=20), **options))
        assert running[-1].ready.wait(300)
        return running[-1]

    yield make
    bot.goes_on.set()
    for one in running:
        one.stop()
