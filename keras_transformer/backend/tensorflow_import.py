"""Imports TensorFlow without its startup messages."""

import os


def import_tensorflow_quietly():
    """Imports TensorFlow with stderr redirected, because no setting silences all of its startup messages."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    stderr = os.dup(2)
    try:
        with open(os.devnull, "w") as devnull:
            os.dup2(devnull.fileno(), 2)
        import tensorflow  # noqa: F401
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
