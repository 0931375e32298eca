"""Checkpoints of a training, written beside it."""

import concurrent.futures
import contextlib

import keras
import numpy as np

from keras_transformer.errors import InputError
from keras_transformer.runs.run import CHECKPOINT
from keras_transformer.runs.tensor_file import load_tensors, save_tensors


def save_checkpoint(run, tensors, step, rows, seconds):
    """Writes everything that the next step depends on.

    That is the weights, the optimizer's moments and step count, the dropout generators' state, the running means of the
    epoch's metrics, the position in the data, and the epochs so far, from which best epoch, patience and the factor of
    the learning rate follow.

    Args:
        run: The `Run`.
        tensors: The `state` of the compiled model.
        step: Training steps taken so far.
        rows: The metrics of each epoch so far, a list of dictionaries.
        seconds: Time spent on them.
    """
    save_tensors(run.path / CHECKPOINT, tensors, run.id, {"step": step, "rows": rows, "seconds": seconds})


def load_checkpoint(run):
    """What was saved last: arrays by name, step, rows and seconds; nothing and zeros if nothing was."""
    path = run.path / CHECKPOINT
    if not path.is_file():
        return {}, 0, [], 0.0
    tensors, about = load_tensors(path, run.id)
    return tensors, about["step"], about["rows"], about["seconds"]


def restore(model, tensors, kind):
    """Puts saved arrays back into a model: those of its "variables", "optimizer" or "metrics"; none if none were saved.

    Raises:
        InputError: If the checkpoint does not hold what this model needs, as that of another version may not.
    """
    if not tensors:
        return
    for name, variable in state(model).items():
        if not name.startswith(kind):
            continue
        if name not in tensors or tensors[name].shape != tuple(variable.shape):
            raise InputError(f"{CHECKPOINT}: made by another version: {name} ({variable.path}) does not fit")
        variable.assign(tensors[name])


def state(model):
    """Every variable of a compiled model by a name that is the same in the next process.

    Counted instead of taken by path, because paths of generators and metrics repeat.
    """
    if keras.backend.backend() == "jax":
        model.jax_state_sync()  # In the middle of an epoch the variables are empty, and `fit` has their values.
    kinds = {
        "variables": model.variables,
        "optimizer": model.optimizer.variables,
        "metrics": [variable for metric in model.metrics for variable in metric.variables],
    }
    return {f"{kind}/{i}": variable for kind, variables in kinds.items() for i, variable in enumerate(variables)}


def snapshot(variables):
    """The values of Keras variables as they are now, whatever becomes of the variables.

    Args:
        variables: Dictionary of names to variables.

    Returns:
        NumPy arrays by the same names, to be read only.
    """
    return {name: value_now(variable) for name, variable in variables.items()}


def value_now(variable):
    """The value of one variable. TensorFlow's is not copied: an update leaves alone what somebody still holds."""
    if keras.backend.backend() == "tensorflow":
        return np.asarray(keras.ops.stop_gradient(variable.value))
    return np.array(keras.ops.convert_to_numpy(variable))


class Writer:
    """Writes in the background, in order, while the processor trains: most of the time of it is waiting.

    What is written must not change meanwhile. It is held until it is written, so a new job waits for the one before.
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
        """Begins a job, once the one before has ended, and raises what that one raised.

        Args:
            steps: Functions to be called one after another; after one that fails, no further one is.
        """
        self.wait()
        self.job = self.worker.submit(lambda: [step() for step in steps])

    def wait(self):
        """Waits until all is written, and raises what went wrong."""
        job, self.job = self.job, None
        if job:
            job.result()


class NullWriter(contextlib.nullcontext):
    """In the place of a `Writer` where another process writes."""

    def __enter__(self):
        return self

    def write(self, steps):
        """Writes nothing."""

    def wait(self):
        """Returns at once."""
