"""Lock of a run folder, which allows one training at a time."""

import contextlib
import os
import pathlib
import time
import warnings

from keras_transformer.errors import InputError, RunLocked
from keras_transformer.language import translate as _

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
        file = open(path, "a+b", buffering=0, opener=open_no_link)  # noqa: SIM115 (closed below)
    except OSError as error:
        if path.is_symlink():
            raise InputError(_("{path}: a link, where the lock must be: remove it", path=path)) from error
        raise InputError(_("{folder}: cannot be written: {reason}", folder=folder, reason=error.strerror)) from error
    with file:
        try:
            is_locked = lock_file(file, wait)
        except OSError as error:  # Some file systems of computing clusters do not support locks.
            message = _(
                "{folder}: cannot be locked ({reason}): do not start another training in it",
                folder=folder,
                reason=error.strerror,
            )
            warnings.warn(message, stacklevel=3)
            is_locked = True
        if not is_locked:
            raise RunLocked(locked_by(folder, file))
        with contextlib.suppress(OSError):  # The disk is full. The process id is only used in an error message.
            file.truncate(0)
            file.write(f" {os.getpid()}".encode("ascii"))
        yield


def open_no_link(path, flags):
    """Opens a file, but not the target of a link: whoever makes one must not choose a file that is overwritten."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)  # Windows has no such flag.


def lock_file(file, wait=0.0):
    """Locks an open file until it is closed.

    Args:
        file: A file that is open for writing.
        wait: Seconds to wait for the lock.

    Returns:
        Whether the file is locked now. Otherwise it is still locked by another process.

    Raises:
        OSError: If the file system has no locks.
    """
    import filelock

    latest = time.monotonic() + wait
    while not filelock.lock_descriptor(file.fileno(), blocking=False):
        if time.monotonic() >= latest:
            return False
        time.sleep(RETRY)
    return True


def locked_by(folder, file):
    """Returns the message that a folder is locked, with the process that locked the file if it is known."""
    file.seek(1)  # Windows does not let other processes read the first byte, which is the locked one.
    process = file.read(20).decode("ascii", "replace")
    if not process.isdigit():
        return _("{folder}: another training is writing to it; wait for it, or name another run folder", folder=folder)
    return _(
        "{folder}: another training (process {process}) is writing to it; wait for it, or name another run folder",
        folder=folder,
        process=process,
    )
