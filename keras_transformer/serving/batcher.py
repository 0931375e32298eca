"""Dynamic batching: queues questions and answers those with equal settings as a batch, in one thread.

Everything except the model runs in the event loop, so that no locks are needed. The model runs in a single thread,
because programs that XLA compiles for a CPU must not run concurrently.
"""

import asyncio
import concurrent.futures
import dataclasses
import threading
import time

from keras_transformer.errors import InputError
from keras_transformer.serving.limits import RequestRejected, busy

WINDOW = 0.005  # Seconds that an idle server waits for more questions to fill a batch.


@dataclasses.dataclass(eq=False)
class Group:
    """Questions with equal settings, each with the future of its answers.

    Attributes:
        settings: The `Settings` of the questions.
        rows: Pairs of a question and a future.
        since: Time of the first question.
        full: Event that is set when the group is full.
    """

    settings: object
    rows: list = dataclasses.field(default_factory=list)
    since: float = dataclasses.field(default_factory=time.monotonic)
    full: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)


@dataclasses.dataclass
class Stream:
    """An answer that is generated piece by piece, interleaved with other jobs.

    Attributes:
        generator: Generator of the pieces.
        pieces: Queue of the pieces, ended by None or an exception.
        left: Whether the client has disconnected.
    """

    generator: object
    pieces: asyncio.Queue = dataclasses.field(default_factory=asyncio.Queue)
    left: bool = False


class Batcher:
    """Answers questions for the routes.

    Args:
        engine: The `Engine`.
        limits: The `Limits`.
        metrics: The `Metrics`, updated with batch sizes and the length of the queue.
    """

    def __init__(self, engine, limits, metrics):
        self.engine, self.limits, self.metrics = engine, limits, metrics
        self.ready, self.streams = False, 0
        metrics.queue.set_function(lambda: self.waiting)
        self.jobs, self.open, self.queued = asyncio.Queue(), {}, set()
        self.stop = threading.Event()
        self.thread = concurrent.futures.ThreadPoolExecutor(1)

    async def warm_up(self):
        """Warms up the model; questions are rejected until then."""
        await self.call(self.engine.warm_up, self.stop, self.limits.batch)
        self.engine.limit_programs(self.limits.programs)
        self.ready = True

    @property
    def waiting(self):
        """Number of waiting questions and streams, without those whose clients have left."""
        return self.streams + sum(not future.done() for group in list(self.queued) for _, future in group.rows)

    async def work(self):
        """Processes jobs one after the other until it is cancelled."""
        while True:
            job = await self.jobs.get()
            await (self.advance(job) if isinstance(job, Stream) else self.answer_group(job))

    def close(self):
        """Stops the thread after its current call."""
        self.stop.set()
        self.thread.shutdown()

    async def call(self, function, *arguments):
        """Calls a function in the model's thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, function, *arguments)

    def admit(self, settings, number):
        """Admits a number of questions and returns their completed settings.

        Raises:
            RequestRejected: If the model is warming up or the queue is full.
            InputError: If the settings are invalid.
        """
        if not self.ready:
            raise busy("the model is warming up")
        settings = self.engine.accept(settings, number)
        if (waiting := self.waiting) and waiting + number > self.limits.queue:
            raise busy(f"the queue is full: {waiting} questions are waiting, the limit is {self.limits.queue}")
        return settings

    async def answers(self, questions, settings):
        """Returns the answers and the attention of each question, as `Engine.n_best` returns them.

        Raises:
            InputError: If the settings are invalid.
            RequestRejected: If the queue is full, or the time limit is exceeded.
        """
        settings = self.admit(settings, len(questions))
        futures = [self.join(question, settings) for question in questions]
        try:
            return await asyncio.wait_for(asyncio.gather(*futures), self.limits.timeout)
        except TimeoutError:
            raise self.too_late() from None

    def join(self, question, settings):
        """Adds a question to the open group of its settings; returns the future of its answers."""
        group = self.open.get(settings.group)
        if not group:
            group = self.open[settings.group] = Group(settings)
            self.queued.add(group)
            self.jobs.put_nowait(group)
        future = asyncio.get_running_loop().create_future()
        group.rows.append((question, future))
        if len(group.rows) == self.limits.batch:
            del self.open[settings.group]
            group.full.set()
        return future

    async def answer_group(self, group):
        """Answers a group, after waiting for more questions if the server is idle."""
        if self.jobs.empty() and not group.full.is_set():
            await until(group.full, group.since + WINDOW)
        if self.open.get(group.settings.group) is group:
            del self.open[group.settings.group]
        self.queued.remove(group)
        rows = [
            (question, future) for question, future in group.rows if not future.done()
        ]  # Skip clients that have left.
        if not rows:
            return
        results = await self.results_of([question for question, _ in rows], group.settings)
        self.metrics.batch(len(rows))
        for (_, future), answers in zip(rows, results):
            if future.done():
                continue
            if isinstance(answers, Exception):
                future.set_exception(answers)
            else:
                future.set_result(answers)

    async def results_of(self, questions, settings):
        """Returns the answers to each of the questions, or an exception.

        Questions that fail together are asked in halves: one that has no answer with the required words, say, shall not
        fail those of other clients.
        """
        try:
            return await self.call(self.engine.n_best, questions, settings)
        except InputError as error:
            if len(questions) == 1:
                return [error]
            middle = len(questions) // 2
            halves = questions[:middle], questions[middle:]
            return [result for half in halves for result in await self.results_of(half, settings)]
        except Exception as error:
            return [error] * len(questions)

    async def stream(self, question, settings):
        """Yields the pieces of an answer as they are generated, and at the end the `Answer` if the engine returns one.

        Closing the generator cancels the stream.

        Raises:
            InputError: If the settings are invalid.
            RequestRejected: If the queue is full, or the time limit is exceeded.
        """
        settings = self.admit(settings, 1)
        stream = Stream(self.engine.stream(question, settings))
        self.jobs.put_nowait(stream)
        self.streams += 1
        end = time.monotonic() + self.limits.timeout
        try:
            while (piece := await asyncio.wait_for(stream.pieces.get(), end - time.monotonic())) is not None:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        except TimeoutError:
            raise self.too_late() from None
        finally:
            stream.left = True
            self.streams -= 1

    async def advance(self, stream):
        """Generates the next piece of a stream, then puts the stream at the end of the queue."""
        if stream.left:
            await self.call(stream.generator.close)
            return
        try:
            piece = await self.call(next, stream.generator, None)
        except Exception as error:
            piece = error
        stream.pieces.put_nowait(piece)
        if piece is not None and not isinstance(piece, Exception):
            self.jobs.put_nowait(stream)

    def too_late(self):
        """Returns the error for an exceeded time limit."""
        return RequestRejected(504, f"no answer within {self.limits.timeout:g} s")


async def until(event, time_is_up):
    """Waits for an event, at most until a given time."""
    try:
        await asyncio.wait_for(event.wait(), max(0.0, time_is_up - time.monotonic()))
    except TimeoutError:
        return
