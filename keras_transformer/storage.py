"""Files that are whole: written beside their place and moved there, and checked when they are read."""

import contextlib
import hashlib
import json
import math
import os
import pathlib
import struct
import zlib

import keras
import numpy as np
import safetensors

from keras_transformer.errors import NO_ROOM, DiskFull, InputError

DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
"""Names of types in Keras and in safetensors files."""


def save_tensors(path, tensors, run_id, about):
    """Writes named arrays with facts about them, atomically, marked as a part of a run.

    The file is of the safetensors format. It is written here, and not by that library, because the library first copies
    all arrays into one (which doubles the memory), or else leaves its own half-written files when it is killed.

    Args:
        path: The file.
        tensors: Dictionary of names to NumPy arrays.
        run_id: The run's id.
        about: What JSON can hold.

    Raises:
        DiskFull: If there is no room for it; the old file is still there.
    """
    names, total = sorted(tensors), 0
    layout, size = tensors_layout(names, tensors)
    metadata = {"run": run_id, "checksum": f"{total:08x}", "about": json.dumps(about)}
    with replacing(path, size) as file:
        file.write(tensors_header(metadata, layout))
        for name in names:
            value = np.asarray(tensors[name], order="C")
            total = checksum(name, value, total)
            file.write(value)
        metadata["checksum"] = f"{total:08x}"
        file.seek(0)
        file.write(tensors_header(metadata, layout))  # Of the same length.


def load_tensors(path, run_id):
    """Reads what `save_tensors` wrote.

    Returns:
        The arrays by name, and the facts about them.

    Raises:
        InputError: If the file is damaged or belongs to another run.
    """
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (safetensors.SafetensorError, OSError) as error:
        raise InputError(f"{path}: damaged: {error}") from error
    if metadata.get("run") != run_id:
        raise InputError(f"{path}: belongs to another run")
    total = 0
    for name in sorted(tensors):
        total = checksum(name, tensors[name], total)
    if metadata["checksum"] != f"{total:08x}":
        raise InputError(f"{path}: damaged: the checksum differs")
    return tensors, json.loads(metadata["about"])


def tensors_checksum(path):
    """The checksum that such a file says of its arrays, in hex; raises `InputError` if it says none."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            return file.metadata()["checksum"]
    except (safetensors.SafetensorError, OSError, TypeError, KeyError) as error:
        raise InputError(f"{path}: damaged: {error}") from error


def tensors_layout(names, tensors):
    """What a safetensors file says of its tensors: type, shape, where their bytes are; and the number of all bytes."""
    layout, end = {}, 0
    for name in names:
        dtype, shape = keras.backend.standardize_dtype(tensors[name].dtype), tensors[name].shape
        start, end = end, end + math.prod(shape) * np.dtype(dtype).itemsize
        layout[name] = {"dtype": DTYPES[dtype], "shape": list(shape), "data_offsets": [start, end]}
    return layout, end


def tensors_header(metadata, layout):
    """The start of a safetensors file: the length of a JSON text, and that text."""
    text = json.dumps({"__metadata__": metadata, **layout}).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def checksum(name, value, total):
    """CRC-32 that goes on from `total` over an array's name and bytes."""
    return zlib.crc32(value, zlib.crc32(name.encode("utf-8"), total))


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
