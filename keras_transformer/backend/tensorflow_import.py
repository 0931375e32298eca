"""Imports TensorFlow without its startup messages."""

import contextlib
import os
import sys

LEVEL, SILENT = "TF_CPP_MIN_LOG_LEVEL", "3"


def import_tensorflow_quietly():
    """Imports TensorFlow without its startup messages."""
    with silent_tensorflow():
        import tensorflow  # noqa: F401


@contextlib.contextmanager
def silent_tensorflow():
    """Hides the messages of TensorFlow, if it is imported inside; a `TF_CPP_MIN_LOG_LEVEL` of the user decides instead.

    The standard error is redirected meanwhile, because no setting silences all messages of the import.
    """
    if os.environ.setdefault(LEVEL, SILENT) != SILENT or "tensorflow" in sys.modules:
        yield
        return
    try:
        stderr = os.dup(2)
    except OSError:  # The standard error is closed.
        yield
        return
    try:
        with open(os.devnull, "w") as devnull:
            os.dup2(devnull.fileno(), 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
