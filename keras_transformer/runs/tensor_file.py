"""Safetensors files of a run, with a checksum and the id of the run."""

import json
import math
import struct
import zlib

import numpy as np
import safetensors

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.checksums import recording

DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
"""Names of data types in safetensors files by their names in Keras."""


def save_tensors(path, tensors, run_id, about):
    """Writes named arrays and metadata of a run to a safetensors file, atomically, and records its checksum.

    The safetensors library is not used, because it either copies all arrays into one first, which doubles the memory,
    or leaves incomplete files of its own when the process is killed.

    Args:
        path: The file.
        tensors: Dictionary of names to NumPy arrays.
        run_id: The run's id.
        about: JSON-serializable metadata.

    Raises:
        DiskFull: If the disk is full. The old file is intact.
    """
    names, total = sorted(tensors), 0
    layout, size = tensors_layout(names, tensors)
    metadata = {"run": run_id, "checksum": f"{total:08x}", "about": json.dumps(about)}
    with recording(path, size) as file:
        file.write(tensors_header(metadata, layout))
        for name in names:
            value = np.asarray(tensors[name], order="C")
            total = checksum(name, value, total)
            file.write(value)
        metadata["checksum"] = f"{total:08x}"
        file.seek(0)
        file.write(tensors_header(metadata, layout))  # Has the same length as the first one.


def load_tensors(path, run_id):
    """Reads a file written by `save_tensors`.

    Returns:
        The arrays by name, and the metadata.

    Raises:
        InputError: If the file is damaged or belongs to another run.
    """
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (safetensors.SafetensorError, OSError) as error:
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error
    if metadata.get("run") != run_id:
        raise InputError(_("{path}: belongs to another run", path=path))
    total = 0
    for name in sorted(tensors):
        total = checksum(name, tensors[name], total)
    if metadata.get("checksum") != f"{total:08x}":
        raise InputError(_("{path}: damaged: the checksum differs", path=path))
    return tensors, read_about(path, metadata)


def read_about(path, metadata):
    """Returns what `save_tensors` was given as metadata; raises `InputError` if it is damaged."""
    try:
        about = json.loads(metadata["about"])
    except (ValueError, KeyError, RecursionError) as error:
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error
    if not isinstance(about, dict):
        raise InputError(_("{path}: damaged: {error}", path=path, error="about"))
    return about


def tensors_checksum(path):
    """Returns the checksum stored in a file, in hexadecimal; raises `InputError` if there is none."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            return file.metadata()["checksum"]
    except (safetensors.SafetensorError, OSError, TypeError, KeyError) as error:
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error


def tensors_layout(names, tensors):
    """Returns the safetensors layout (type, shape and offsets of each array), and the total number of bytes."""
    import keras  # Not needed for reading.

    layout, end = {}, 0
    for name in names:
        dtype, shape = keras.backend.standardize_dtype(tensors[name].dtype), tensors[name].shape
        start, end = end, end + math.prod(shape) * np.dtype(dtype).itemsize
        layout[name] = {"dtype": DTYPES[dtype], "shape": list(shape), "data_offsets": [start, end]}
    return layout, end


def tensors_header(metadata, layout):
    """Returns the header of a safetensors file: the length of a JSON text, followed by the text."""
    text = json.dumps({"__metadata__": metadata, **layout}).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def checksum(name, value, total):
    """Returns the CRC-32 of an array's name and bytes, continued from `total`."""
    return zlib.crc32(value, zlib.crc32(name.encode("utf-8"), total))
