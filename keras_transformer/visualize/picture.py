"""Pictures as files, of the kinds that their endings say. Nothing here needs Keras or matplotlib until it is called."""

import importlib
import io
import pathlib

from keras_transformer.errors import InputError

ENDINGS = (".png", ".svg", ".pdf")


def check(path):
    """Says what is wrong with a place for a picture before there is one.

    Args:
        path: The file to be written.

    Raises:
        InputError: If it has not one of the `ENDINGS`, is a folder, its own folder is missing, or matplotlib is.
    """
    path = pathlib.Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: a picture ends in {', '.join(ENDINGS)}: name such a file")
    check_place(path)
    try:
        importlib.import_module("matplotlib")
    except ImportError as error:
        raise missing(error) from error


def missing(error):
    """The `InputError` that says which package an `ImportError` is about, and how to get it."""
    what = f"pictures need the package {error.name}, which is missing"
    return InputError(f"{what}: pip install 'keras-transformer[visualize]'")


def check_place(path):
    """Raises `InputError` if no file can be at a `pathlib.Path`: it is a folder, or its own folder is missing."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder: name a file")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")


def save(figure, path):
    """Writes a matplotlib `Figure` to a file, atomically; raises `InputError` like `check`."""
    from keras_transformer.runs.atomic_io import write_atomically  # Brings Keras.

    check(path)
    write_atomically(path, image(figure, pathlib.Path(path).suffix.lower()))


def image(figure, ending):
    """The bytes of a file with that ending."""
    file = io.BytesIO()
    figure.savefig(file, format=ending[1:], facecolor="auto")
    return file.getvalue()
