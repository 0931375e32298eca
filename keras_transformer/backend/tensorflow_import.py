"""TensorFlow without its noise."""

import os


def import_tensorflow_quietly():
    """Imports TensorFlow without its start-up messages, some of which no setting silences."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    kept = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        import tensorflow  # noqa: F401
    finally:
        os.dup2(kept, 2)
        os.close(kept)
