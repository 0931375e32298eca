"""Arrays in the weight files of Keras 2, Keras 3 and TensorFlow.

No model is built and nothing in a file is executed: of a SavedModel, only the checkpoint of its variables is read.
"""

import glob
import io
import math
import pathlib
import re
import zipfile

import h5py
import numpy as np

from keras_transformer.backend.tensorflow_import import silent_tensorflow
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

HDF5, ZIP = b"\x89HDF", b"PK\x03\x04"  # The first bytes of a file.
ARCHIVED = "model.weights.h5"  # In a .keras file.
WHOLE_MODEL = "model_weights"  # Group of an HDF5 file that holds more than weights.
INDEX, DATA = ".index", re.compile(r"\.data-\d{5}-of-\d{5}$")
SAVED_MODEL = pathlib.Path("variables") / "variables"
VALUE = ".ATTRIBUTES/VARIABLE_VALUE"
OTHERS = {"optimizer", "optimizer_weights", ".OPTIMIZER_SLOT", "keras_api", "metrics"}  # Moments and metrics.
FIRST = ("variables", "query", "key", "value")
LAST = ("dense", "output", "layer_normalization", "bias", "beta")
DAMAGED = (
    OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, EOFError, MemoryError,
    zipfile.BadZipFile,
)  # fmt: skip
"""What h5py, zipfile and TensorFlow raise when they read a damaged file."""


def read_arrays(path):
    """Reads the arrays of a model in the order of its layers.

    Args:
        path: An HDF5 file (of a whole model or of its weights), a .keras file, the folder of a SavedModel, or a
            TensorFlow checkpoint: its prefix, one of its files, or a folder with one checkpoint.

    Returns:
        A list of float32 NumPy arrays, layer by layer from the inputs to the outputs: embeddings, kernel and bias, or
        gamma and beta. In multi-head attention, the order is query, key, value, output.

    Raises:
        InputError: If the path does not exist, is of another format, or is damaged.
    """
    path = pathlib.Path(path)
    try:
        arrays = [np.asarray(array, "float32") for array in arrays_of(path)]
    except InputError:
        raise
    except DAMAGED as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(_("{path}: damaged: {error}", path=path, error=reason)) from error
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError(_("{path}: its weights contain NaN or infinity: import an earlier checkpoint", path=path))
    return arrays


def arrays_of(path):
    """Returns the arrays of a path in the order of the layers; see `read_arrays`."""
    if prefix := checkpoint_prefix(path):
        return checkpoint_arrays(prefix)
    if not path.exists():
        raise InputError(_("{path}: there is no such file or checkpoint", path=path))
    start = first_bytes(path) if path.is_file() else b""
    if start == HDF5:
        return hdf5_arrays(path)
    if start == ZIP:
        with zipfile.ZipFile(path) as archive:
            return hdf5_arrays(io.BytesIO(archive.read(ARCHIVED)))
    raise InputError(
        _("{path}: neither HDF5 (.h5), .keras, a TensorFlow checkpoint nor the folder of a SavedModel", path=path)
    )


def first_bytes(path):
    """Returns the first four bytes of a file."""
    with open(path, "rb") as file:
        return file.read(4)


def checkpoint_prefix(path):
    """Returns the prefix of the checkpoint at a path; None if there is none.

    Raises:
        InputError: If a folder holds several checkpoints.
    """
    if path.is_dir():
        prefixes = [path / SAVED_MODEL, *(file.with_suffix("") for file in sorted(path.glob(f"*{INDEX}")))]
    else:
        prefixes = [path, path.with_name(DATA.sub("", path.name.removesuffix(INDEX)))]
    found = [prefix for prefix in dict.fromkeys(prefixes) if prefix.with_name(prefix.name + INDEX).is_file()]
    if len(found) > 1:
        names = ", ".join(prefix.name for prefix in found)
        raise InputError(_("{path}: holds several checkpoints: name one of {names}", path=path, names=names))
    return found[0] if found else None


def checkpoint_arrays(prefix):
    """Returns the arrays of a TensorFlow checkpoint."""
    with silent_tensorflow():
        import tensorflow as tf

    stored = sum(file.stat().st_size for file in prefix.parent.glob(f"{glob.escape(prefix.name)}.data-*"))
    try:
        reader = tf.train.load_checkpoint(str(prefix))
        shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
        names = [name for name in shapes if name.endswith(VALUE) and types[name].is_floating and is_of_model(name)]
        if sum(types[name].size * math.prod(shapes[name]) for name in names) > stored:
            raise ValueError(_("its data is incomplete"))  # Before memory is taken for it.
        return [reader.get_tensor(name) for name in sorted(names, key=layer_order)]
    except tf.errors.OpError as error:
        raise ValueError(error.message) from error


def hdf5_arrays(file):
    """Returns the arrays of an HDF5 file that Keras 2 or Keras 3 wrote."""
    with h5py.File(file, "r") as opened:
        items = {}
        opened.visititems(items.__setitem__)  # Follows no links to other files.
        names = ordered_names(items, opened)
        return [array_of(items[name]) for name in names if items[name].dtype.kind == "f"]


def ordered_names(items, opened):
    """Returns the names of the arrays of an HDF5 file in the order of the layers.

    Args:
        items: The groups and datasets by name.
        opened: The file, a group.
    """
    root = items.get(WHOLE_MODEL, opened)
    if "layer_names" not in root.attrs:
        names = [name for name, item in items.items() if isinstance(item, h5py.Dataset) and is_of_model(name)]
        return sorted(names, key=layer_order)
    layers = [f"{root.name}/{text(layer)}".strip("/") for layer in root.attrs["layer_names"]]
    return [f"{layer}/{text(name)}" for layer in layers for name in items[layer].attrs["weight_names"]]


def array_of(dataset):
    """Returns the array of a dataset that is stored in its own file."""
    if dataset.external or dataset.id.get_storage_size() < dataset.nbytes:
        raise ValueError(_("its data is incomplete"))
    return dataset[()]


def text(name):
    """Returns the text of an attribute, which older versions wrote as bytes."""
    return name.decode("utf-8") if isinstance(name, bytes) else str(name)


def is_of_model(name):
    """Returns whether a name is one of the model's weights, not of its optimizer or metrics."""
    return not OTHERS & {*name.split("/")}


def layer_order(name):
    """Returns a key that sorts the names in files that have no order, such as "layers/functional_1/…/vars/0".

    Keras numbers layers of a kind. What it does not number is known: query, key, value and output of attention, kernel
    and bias, and that dense layers and layer normalizations follow attention.
    """
    return [component_order(component) for component in name.split("/")]


def component_order(component):
    """Returns the sort key of one component of a name: its place, its letters and its number."""
    stem, number = re.fullmatch(r"_?(.*?)(?:_dense)?[-_]?(\d*)", component).groups()
    place = FIRST.index(stem) - len(FIRST) if stem in FIRST else int(stem.startswith(LAST))
    return place, stem, int(number or 0)
