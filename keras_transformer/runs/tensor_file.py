"""Named arrays in a safetensors file that belongs to a run, with a checksum."""

import json
import math
import struct
import zlib

import keras
import numpy as np
import safetensors

from keras_transformer.errors import InputError
from keras_transformer.runs.atomic_io import replacing

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
