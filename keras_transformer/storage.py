"""Files that are whole: written beside their place and moved there, and checked when they are read."""

import hashlib
import json
import os
import pathlib
import zlib

import numpy as np
import safetensors
import safetensors.numpy

from keras_transformer.errors import InputError


def save_tensors(path, tensors, run_id, about):
    """Writes named arrays with facts about them, atomically, marked as a part of a run.

    Args:
        path: The file.
        tensors: Dictionary of names to NumPy arrays.
        run_id: The run's id.
        about: What JSON can hold.
    """
    tensors = {name: np.asarray(value, order="C") for name, value in tensors.items()}
    metadata = {"run": run_id, "checksum": checksum(tensors), "about": json.dumps(about)}
    write_atomically(path, safetensors.numpy.save(tensors, metadata))


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
    if metadata["checksum"] != checksum(tensors):
        raise InputError(f"{path}: damaged: the checksum differs")
    return tensors, json.loads(metadata["about"])


def checksum(tensors):
    """CRC-32 over the bytes of named arrays, as text."""
    total = 0
    for name in sorted(tensors):
        total = zlib.crc32(tensors[name].tobytes(), zlib.crc32(name.encode(), total))
    return f"{total:08x}"


def write_atomically(path, data):
    """Writes bytes to a file so that at any moment either the old or the new content is there whole."""
    path = pathlib.Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_json(path, value):
    """Writes a value as readable JSON, atomically."""
    write_atomically(path, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8"))


def sha256(data):
    """Hexadecimal SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()
