"""Training checkpoints, written in the background."""

import concurrent.futures
import contextlib

import keras
import numpy as np

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.checksums import check
from keras_transformer.runs.run import CHECKPOINT
from keras_transformer.runs.tensor_file import load_tensors, save_tensors


def save_checkpoint(run, tensors, step, rows, seconds):
    """Writes a checkpoint with everything that the next step depends on.

    This includes the weights, the optimizer's moments and step count, the state of the dropout generators, the running
    means of the epoch's metrics, the position in the data, and the metrics of previous epochs, which determine the best
    epoch, early stopping and the factor of the learning rate.

    Args:
        run: The `Run`.
        tensors: The `state` of the compiled model.
        step: Training steps taken so far.
        rows: The metrics of each finished epoch, a list of dictionaries.
        seconds: Training time so far.
    """
    save_tensors(run.path / CHECKPOINT, tensors, run.id, {"step": step, "rows": rows, "seconds": seconds})


def load_checkpoint(run):
    """Returns the last checkpoint: arrays by name, step, rows and seconds; empty and zero if there is none."""
    path = run.path / CHECKPOINT
    check(path, run.id)
    if not path.is_file():
        return {}, 0, [], 0.0
    tensors, about = load_tensors(path, run.id)
    try:
        rows = [{**row} for row in about["rows"]]
        return tensors, int(about["step"]), rows, float(about["seconds"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error


def restore(model, tensors, kind):
    """Restores the variables of one kind from a checkpoint; does nothing if `tensors` is empty.

    Args:
        model: The compiled model.
        tensors: Arrays from `load_checkpoint`.
        kind: "variables", "optimizer" or "metrics".

    Raises:
        InputError: If the checkpoint does not match the model, e.g. because another version wrote it.
    """
    if not tensors:
        return
    for name, variable in state(model).items():
        if not name.startswith(kind):
            continue
        if name not in tensors or tensors[name].shape != tuple(variable.shape):
            raise InputError(
                _(
                    "{checkpoint}: made by another version: {name} ({path}) does not fit",
                    checkpoint=CHECKPOINT,
                    name=name,
                    path=variable.path,
                )
            )
        variable.assign(tensors[name])


def state(model):
    """Returns all variables of a compiled model by names that are the same in every process.

    The names are numbered, because the paths of generators and metrics are not unique.
    """
    if keras.backend.backend() == "jax":
        model.jax_state_sync()  # During an epoch, `fit` holds the values, and the variables are empty.
    kinds = {
        "variables": model.variables,
        "optimizer": model.optimizer.variables,
        "metrics": [variable for metric in model.metrics for variable in metric.variables],
    }
    return {f"{kind}/{i}": variable for kind, variables in kinds.items() for i, variable in enumerate(variables)}


def snapshot(variables):
    """Returns the current values of Keras variables, which later updates do not change.

    Args:
        variables: Dictionary of names to variables.

    Returns:
        NumPy arrays by the same names; they must not be modified.
    """
    return {name: value_now(variable) for name, variable in variables.items()}


def value_now(variable):
    """Returns the value of a variable. TensorFlow needs no copy: updates do not overwrite a tensor that is in use."""
    if keras.backend.backend() == "tensorflow":
        return np.asarray(keras.ops.stop_gradient(variable.value))
    return np.array(keras.ops.convert_to_numpy(variable))


class Writer:
    """Writes files in a background thread, in order, while training continues. Writing mostly waits for the disk.

    The data must not change until it is written. To limit memory, a new job waits for the previous one.
    """

    def __init__(self):
        self.worker = concurrent.futures.ThreadPoolExecutor(1, "writer")
        self.job = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.worker:
            self.wait()

    def write(self, steps):
        """Waits for the previous job, raises its exception if it failed, and starts a new job.

        Args:
            steps: Functions that are called one after another until one fails.
        """
        self.wait()
        self.job = self.worker.submit(lambda: [step() for step in steps])

    def wait(self):
        """Waits for the current job, and raises its exception if it failed."""
        job, self.job = self.job, None
        if job:
            job.result()


class NullWriter(contextlib.nullcontext):
    """A `Writer` that writes nothing, for processes other than the first."""

    def __enter__(self):
        return self

    def write(self, steps):
        """Does nothing."""

    def wait(self):
        """Returns immediately."""
