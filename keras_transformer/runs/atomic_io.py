"""Files that are written whole: beside their place first, then moved there."""

import contextlib
import hashlib
import json
import os
import pathlib

from keras_transformer.errors import NO_ROOM, DiskFull


@contextlib.contextmanager
def replacing(path, size):
    """Opens a file to write so that at any moment either the old or the new content is there whole.

    Args:
        path: The file, which is replaced when the block ends without an error.
        size: Bytes to be written, to be named if there is no room for them.

    Yields:
        The open file, which stands beside its place until then.

    Raises:
        DiskFull: If there is no room; the old file is still there.
    """
    path = pathlib.Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise DiskFull(
            error.errno,
            f"{NO_ROOM[error.errno]}: could not write {path} (needs {in_words(size)}); "
            "what was saved before is intact: make room and run the same command again",
        ) from error
    finally:
        beside.unlink(missing_ok=True)


def in_words(size):
    """A number of bytes for people."""
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{-(-size // 1000)} kB"


def remove_leftovers(folder):
    """Removes the half-written files of processes that were killed; those of living ones stay.

    Args:
        folder: Where `replacing` wrote.
    """
    for path in pathlib.Path(folder).glob(".*.part"):
        owner = path.name.split(".")[-2]
        if owner.isdigit() and not is_alive(int(owner)):
            with contextlib.suppress(PermissionError):  # Windows removes no file that a process holds open.
                path.unlink(missing_ok=True)


def is_alive(process):
    """Whether another process of that number runs. In a container, this one has often the number of the one before."""
    if os.name == "nt" or process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # Somebody else's.
        return True
    return True


def write_atomically(path, data):
    """Writes bytes to a file so that at any moment either the old or the new content is there whole."""
    with replacing(path, len(data)) as file:
        file.write(data)


def write_json(path, value):
    """Writes a value as readable JSON, atomically."""
    write_atomically(path, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8"))


def sha256(data):
    """Hexadecimal SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()
