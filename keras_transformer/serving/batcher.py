"""Questions that wait, and the one thread that answers them, those with equal settings side by side.

All but the model runs in the event loop, so that nothing here needs a lock. The model has one thread for itself:
programs that XLA compiles for a CPU may not run twice at a time.
"""

import asyncio
import concurrent.futures
import dataclasses
import threading
import time

from keras_transformer.serving.limits import RequestRejected, busy

WINDOW = 0.005  # Seconds that a question waits for company while nothing else is to be done.


@dataclasses.dataclass
class Group:
    """Questions with equal settings, each with the future of its answers.

    Attributes:
        settings: Their `Settings`.
        rows: Pairs of a question and a future.
        since: When the first came.
        full: Set when no more fit in.
    """

    settings: object
    rows: list = dataclasses.field(default_factory=list)
    since: float = dataclasses.field(default_factory=time.monotonic)
    full: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)


@dataclasses.dataclass
class Stream:
    """An answer that is made piece by piece, with others' work in between.

    Attributes:
        generator: Makes its pieces.
        pieces: Those made, then None; or what went wrong.
        left: Whether nobody waits for it any more.
    """

    generator: object
    pieces: asyncio.Queue = dataclasses.field(default_factory=asyncio.Queue)
    left: bool = False


class Batcher:
    """Answers questions for the routes.

    Args:
        served: The `Served`.
        limits: The `Limits`.
        metrics: The `Metrics`, told of batches and of what waits.
    """

    def __init__(self, served, limits, metrics):
        self.served, self.limits, self.metrics = served, limits, metrics
        self.ready, self.waiting = False, 0
        metrics.queue.set_function(lambda: self.waiting)
        self.jobs, self.open = asyncio.Queue(), {}
        self.stop = threading.Event()
        self.thread = concurrent.futures.ThreadPoolExecutor(1)

    async def warm_up(self):
        """Prepares the model; until then it takes no questions."""
        await self.call(self.served.warm_up, self.stop, self.limits.batch)
        self.ready = True

    async def work(self):
        """Does one job after the other until it is cancelled."""
        while True:
            job = await self.jobs.get()
            await (self.advance(job) if isinstance(job, Stream) else self.answer_group(job))

    def close(self):
        """Ends the thread when what it does at the moment is done."""
        self.stop.set()
        self.thread.shutdown()

    async def call(self, function, *arguments):
        """Calls a function in the model's thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, function, *arguments)

    def admit(self, settings, number):
        """The settings as they will be asked.

        Raises:
            RequestRejected: If so many questions cannot be taken.
            InputError: If the settings cannot be.
        """
        if not self.ready:
            raise busy("the model is warming up")
        settings = self.served.accept(settings, self.limits.settings)
        if self.waiting and self.waiting + number > self.limits.queue:
            raise busy(f"{self.waiting} questions are waiting, {self.limits.queue} may")
        return settings

    async def answers(self, questions, settings):
        """For each question its answers and their attention, as `Served.n_best` gives them.

        Raises:
            InputError: If the settings cannot be.
            RequestRejected: If there is no room, or it takes too long.
        """
        settings = self.admit(settings, len(questions))
        futures = [self.join(question, settings) for question in questions]
        try:
            return await asyncio.wait_for(asyncio.gather(*futures), self.limits.timeout)
        except asyncio.TimeoutError:
            raise self.too_late() from None

    def join(self, question, settings):
        """Puts a question into the open group of its settings; returns the future of its answers."""
        group = self.open.get(settings.group)
        if not group:
            group = self.open[settings.group] = Group(settings)
            self.jobs.put_nowait(group)
        future = asyncio.get_running_loop().create_future()
        group.rows.append((question, future))
        self.waiting += 1
        if len(group.rows) == self.limits.batch:
            del self.open[settings.group]
            group.full.set()
        return future

    async def answer_group(self, group):
        """Answers a group, after the time that others have to join it."""
        if self.jobs.empty() and not group.full.is_set():
            await until(group.full, group.since + WINDOW)
        if self.open.get(group.settings.group) is group:
            del self.open[group.settings.group]
        self.waiting -= len(group.rows)
        rows = [(question, future) for question, future in group.rows if not future.done()]  # Who left is forgotten.
        if not rows:
            return
        try:
            found = await self.call(self.served.n_best, [question for question, _ in rows], group.settings)
        except Exception as error:
            found = [error] * len(rows)
        self.metrics.batch(len(rows))
        for (_, future), answers in zip(rows, found):
            if future.done():
                continue
            if isinstance(answers, Exception):
                future.set_exception(answers)
            else:
                future.set_result(answers)

    async def stream(self, question, settings):
        """The answer to a question in pieces, as they are made, and perhaps the `Answer`; whoever leaves it ends it.

        Raises:
            InputError: If the settings cannot be.
            RequestRejected: If there is no room, or it takes too long.
        """
        settings = self.admit(settings, 1)
        stream = Stream(self.served.stream(question, settings))
        self.jobs.put_nowait(stream)
        self.waiting += 1
        end = time.monotonic() + self.limits.timeout
        try:
            while (piece := await asyncio.wait_for(stream.pieces.get(), end - time.monotonic())) is not None:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        except asyncio.TimeoutError:
            raise self.too_late() from None
        finally:
            stream.left = True
            self.waiting -= 1

    async def advance(self, stream):
        """Makes the next piece of a stream, which then goes behind all that waits."""
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
        """What is said when time is up."""
        return RequestRejected(504, f"no answer within {self.limits.timeout:g} s")


async def until(event, time_is_up):
    """Waits for an event, or until a time."""
    try:
        await asyncio.wait_for(event.wait(), max(0.0, time_is_up - time.monotonic()))
    except asyncio.TimeoutError:
        return
