"""Writing to the disk beside the training."""

import concurrent.futures
import contextlib


class Writer:
    """Writes in the background, in order, while the processor trains: most of the time of it is waiting.

    What is written must not change meanwhile. It is held until it is written, so a new job waits for the one before.
    """

    def __init__(self):
        self.worker = concurrent.futures.ThreadPoolExecutor(1, "writer")
        self.job = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.worker:
            self.wait()

    def write(self, steps):
        """Begins a job, once the one before has ended, and raises what that one raised.

        Args:
            steps: Functions to be called one after another; after one that fails, no further one is.
        """
        self.wait()
        self.job = self.worker.submit(lambda: [step() for step in steps])

    def wait(self):
        """Waits until all is written, and raises what went wrong."""
        job, self.job = self.job, None
        if job:
            job.result()


class NullWriter(contextlib.nullcontext):
    """In the place of a `Writer` where another process writes."""

    def __enter__(self):
        return self

    def write(self, steps):
        """Writes nothing."""

    def wait(self):
        """Returns at once."""
