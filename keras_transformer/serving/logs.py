"""Limits the log of a server, which clients could otherwise fill a disk with."""

import contextlib
import logging
import time

SECONDS = 10  # Interval in which the same warning is logged once.
MOST = 100  # Number of different warnings that are remembered.
LOG = logging.getLogger(__name__)


class OnceInAWhile(logging.Filter):
    """Drops warnings that were logged a moment ago, whatever values they hold. Errors of the program pass."""

    def __init__(self):
        super().__init__()
        self.last = {}

    def filter(self, record):
        """Returns whether a record is logged."""
        if record.levelno > logging.WARNING and record.name != "asyncio":
            return True
        # asyncio reports, once for each waiting connection, that there are no file handles left.
        what, now = str(record.msg).partition("\n")[0], time.monotonic()
        if now < self.last.get(what, now):
            return False
        if len(self.last) >= MOST:
            self.last.clear()
        self.last[what] = now + SECONDS
        return True


@contextlib.contextmanager
def limited_logs():
    """Context manager that limits the log of this package's server, of uvicorn and of asyncio."""
    loggers, limit = [LOG, logging.getLogger("uvicorn.error"), logging.getLogger("asyncio")], OnceInAWhile()
    for logger in loggers:
        logger.addFilter(limit)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(limit)
