"""Check of training: a tiny training that is interrupted and resumed equals one that is not."""

import contextlib
import dataclasses
import io
import logging
import pathlib
import tempfile

import numpy as np
import pandas

from keras_transformer.backend.devices import find_devices
from keras_transformer.config import Config
from keras_transformer.doctor.finding import guarded, passed_if
from keras_transformer.language import translate as _
from keras_transformer.runs.run import CHECKPOINT, WEIGHTS, Run
from keras_transformer.runs.tensor_file import load_tensors
from keras_transformer.training.trainer import train

TINY = Config(
    vocab_size=300, num_layers=1, d_model=8, num_heads=2, dff=8, batch_size=32, epochs=2, patience=0,
    warmup_steps=50, max_length=16, precision="float32",
)  # fmt: skip
PAIRS = 60
DIFFER_ON_GPU = 1e-3  # Sums of a GPU are rounded in another order each time; those of a CPU are not.


def training_findings():
    """Yields the `Finding` about resuming a training."""
    check = _("A resumed training has the weights of an uninterrupted one")
    yield guarded(check, resumed_training, check)


def resumed_training(check):
    """Returns the `Finding` about resuming a training after an epoch."""
    gap = resumed_against_uninterrupted()
    measured = _("largest difference {difference:.1e}", difference=gap)
    limit = DIFFER_ON_GPU if find_devices().gpus else 0.0
    return passed_if(gap <= limit, check, measured, _("Do not interrupt trainings on this installation; report this."))


def resumed_against_uninterrupted():
    """Trains a tiny run at once and another one with an interruption after its first epoch.

    Returns:
        The largest difference of their weights and checkpoints, optimizer included; infinite if they have other names.
    """
    numbers = range(PAIRS)
    pairs = pandas.DataFrame({"question": [f"q {i}" for i in numbers], "answer": [f"a {i % 7}" for i in numbers]})
    with tempfile.TemporaryDirectory() as folder, silent_training():
        whole, resumed = (pathlib.Path(folder) / name for name in ("whole", "resumed"))
        train(pairs, whole, TINY)
        train(pairs, resumed, dataclasses.replace(TINY, epochs=1))
        train(pairs, resumed, TINY)
        files = (CHECKPOINT, WEIGHTS)
        return max(largest_difference(tensors(resumed, name), tensors(whole, name)) for name in files)


@contextlib.contextmanager
def silent_training():
    """Context manager that hides the progress of trainings, and TensorFlow's advice on compiling several of them."""
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logger.setLevel(level)


def tensors(run_dir, name):
    """Returns the arrays of a file of a run by name."""
    return load_tensors(run_dir / name, Run(run_dir).id)[0]


def largest_difference(actual, expected):
    """Returns the largest difference of two dictionaries of arrays."""
    if actual.keys() != expected.keys():
        return float("inf")
    pairs = ((np.asarray(actual[name], "float64"), np.asarray(expected[name], "float64")) for name in expected)
    return max(float(np.max(np.abs(one - other), initial=0.0)) for one, other in pairs)
