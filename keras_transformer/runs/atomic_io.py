"""Atomic file writes: to a temporary file first, which then replaces the target."""

import contextlib
import errno
import hashlib
import json
import os
import pathlib

from keras_transformer.errors import NO_ROOM, DiskFull
from keras_transformer.language import translate as _


@contextlib.contextmanager
def replacing(path, size, before=None, sync=True):
    """Context manager that opens a temporary file and replaces a file with it at the end.

    At any moment, the file has either its complete old content or its complete new content.

    Args:
        path: The file to replace if the block ends without an error.
        size: Number of bytes to be written, for the error message.
        before: A function that is called with the path of the complete temporary file, before it replaces the old one.
        sync: Whether the new content must survive a power cut right afterwards; otherwise the old one may.

    Yields:
        The temporary file, opened for writing in the same folder.

    Raises:
        DiskFull: If the disk is full. The old file is intact.
    """
    path = pathlib.Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if before:
            before(temporary)
        os.replace(temporary, path)
        if sync:
            sync_folder(path.parent)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise DiskFull(
            error.errno,
            _(
                "{reason}: could not write {path} (needs {size}); what was saved before is intact: make room and run "
                "the same command again",
                reason=_(NO_ROOM[error.errno]),
                path=path,
                size=in_words(size),
            ),
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder):
    """Writes the names of a folder to the disk, so that a file keeps its new content if the power fails afterwards."""
    if os.name == "nt":  # Windows opens no folder.
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # It may be writable, but not readable.
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # Some network file systems sync no folders.
            raise
    finally:
        os.close(descriptor)


def in_words(size):
    """Formats a number of bytes as kB or MB."""
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{-(-size // 1000)} kB"


def remove_leftovers(folder):
    """Removes the temporary files of killed processes, but not those of running ones.

    Args:
        folder: The folder that `replacing` wrote to.
    """
    for path in pathlib.Path(folder).glob(".*.part"):
        owner = path.name.split(".")[-2]
        if owner.isdigit() and not is_alive(int(owner)):
            with contextlib.suppress(PermissionError):  # Windows cannot remove a file that a process has open.
                path.unlink(missing_ok=True)


def is_alive(process):
    """Returns whether another process with this id runs.

    In a container, the current process often has the same id as the killed one, so its own id counts as not running.
    """
    if os.name == "nt" or process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # It belongs to another user.
        return True
    return True


def write_atomically(path, data):
    """Writes bytes to a file atomically."""
    with replacing(path, len(data)) as file:
        file.write(data)


def write_json(path, value):
    """Writes a value as indented JSON, atomically."""
    write_atomically(path, json_bytes(value))


def json_bytes(value):
    """Returns a value as indented JSON, encoded."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def sha256(data):
    """Returns the SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
