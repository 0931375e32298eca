"""Saves figures to files, in the format of the extension. Keras and matplotlib are imported only on use."""

import io
import pathlib

from keras_transformer.errors import InputError, import_extra
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import write_atomically

ENDINGS = (".png", ".svg", ".pdf")


def check(path):
    """Checks that a figure can be saved to a path, before it is drawn.

    Args:
        path: The file to write.

    Raises:
        InputError: If the extension is not one of `ENDINGS`, the path is a folder, its parent folder is missing, or
            matplotlib is missing.
    """
    path = pathlib.Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(_("{path}: name a file that ends in {endings}", path=path, endings=", ".join(ENDINGS)))
    check_writable_path(path)
    import_extra("matplotlib", "visualize", "a picture")


def check_writable_path(path):
    """Raises `InputError` if a `pathlib.Path` is a folder, or its parent folder is missing."""
    if path.is_dir():
        raise InputError(_("{path}: is a folder: name a file", path=path))
    if not path.parent.is_dir():
        raise InputError(_("{path}: there is no folder {parent}", path=path, parent=path.parent))


def save(figure, path):
    """Writes a matplotlib `Figure` to a file, atomically; raises `InputError` like `check`."""
    check(path)
    write_atomically(path, image(figure, pathlib.Path(path).suffix.lower()))


def image(figure, ending):
    """Returns a figure as the bytes of a file with the given extension."""
    file = io.BytesIO()
    figure.savefig(file, format=ending[1:], facecolor="auto")
    return file.getvalue()
