"""Lock of a run folder, which allows one training at a time."""

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
    """Context manager that locks a run folder against other trainings.

    The operating system releases the lock when the process ends, even if it is killed, so a leftover lock file is
    harmless. The file contains the id of the last process that locked it.

    Args:
        folder: An existing folder.
        wait: Seconds to wait for the lock.

    Raises:
        RunLocked: If another training holds the lock.
        InputError: If the folder is not writable.
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
        except OSError as error:  # Some file systems of computing clusters do not support locks.
            advice = "do not start another training in it"
            warnings.warn(f"{folder}: cannot be locked ({error.strerror}): {advice}", stacklevel=3)
        with contextlib.suppress(OSError):  # The disk is full. The process id is only used in an error message.
            file.truncate(0)
            file.write(str(os.getpid()).encode("ascii"))
        yield


def lock_within(wait, file):
    """Locks an open file until it is closed; raises an `OSError` if it stays locked for `wait` seconds."""
    latest = time.monotonic() + wait
    while True:
        try:
            return lock_to_the_end(file)
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= latest:
                raise
            time.sleep(RETRY)


def lock_to_the_end(file):
    """Locks an open file until it is closed; raises an `OSError` if it is already locked."""
    if os.name == "nt":
        import msvcrt

        file.seek(2**30)  # Far behind the process id, because Windows prevents reading a locked range.
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def holder(file):
    """Returns the process that locked a file, for an error message; empty if it is unknown."""
    file.seek(0)
    process = file.read(20).decode("ascii", "replace")
    return f" (process {process})" if process.isdigit() else ""
