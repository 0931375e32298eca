"""One training at a time in a run folder."""

import contextlib
import os
import pathlib
import time
import warnings

from keras_transformer.errors import InputError, RunLocked

LOCK = "lock"
RETRY = 0.02  # Seconds between two attempts to lock.


@contextlib.contextmanager
def locked(folder, wait=0.0):
    """Keeps other trainings out of a run folder for the length of a block.

    The operating system holds the lock and lifts it when its process ends, however that ends; so the file that stays
    behind locks nobody out. It holds the number of the process that locked it last.

    Args:
        folder: An existing folder.
        wait: Seconds to wait for whoever holds it.

    Raises:
        RunLocked: If another training holds it.
        InputError: If it cannot be written.
    """
    path = pathlib.Path(folder) / LOCK
    try:
        file = open(path, "a+b", buffering=0)  # noqa: SIM115 (closed below)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
    with file:
        try:
            lock_within(wait, file)
        except (BlockingIOError, PermissionError) as error:
            raise RunLocked(
                f"{folder}: another training{holder(file)} is writing to it; wait for it, or name another run folder"
            ) from error
        except OSError as error:  # As on some file systems of computing clusters.
            warnings.warn(f"{folder}: cannot be locked ({error.strerror}): start no other training in it", stacklevel=3)
        with contextlib.suppress(OSError):  # A full disk: the number only helps those who are refused.
            file.truncate(0)
            file.write(str(os.getpid()).encode("ascii"))
        yield


def lock_within(wait, file):
    """Locks an open file until it is closed; raises one of `OSError`'s kinds if others hold it for so many seconds."""
    latest = time.monotonic() + wait
    while True:
        try:
            return lock_to_the_end(file)
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= latest:
                raise
            time.sleep(RETRY)


def lock_to_the_end(file):
    """Locks an open file until it is closed; raises one of `OSError`'s kinds if it is locked already."""
    if os.name == "nt":
        import msvcrt

        file.seek(2**30)  # Far behind the number, which Windows would let nobody read otherwise.
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def holder(file):
    """Who locked a file, in words; nothing if that is not known."""
    file.seek(0)
    number = file.read(20).decode("ascii", "replace")
    return f" (process {number})" if number.isdigit() else ""
