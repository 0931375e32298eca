"""Saves a training in a new folder if its run folder is moved or deleted."""

import contextlib
import errno
import os
import pathlib
import tempfile

from keras_transformer.errors import InputError, RunFolderLost
from keras_transformer.language import translate as _
from keras_transformer.runs.run import Run
from keras_transformer.training.checkpoint import save_checkpoint, snapshot, state


@contextlib.contextmanager
def rescuing(run, model, run_checkpoint):
    """Context manager that saves a training in a new folder if its own is gone when a file is written.

    Args:
        run: The `Run`.
        model: The compiled model.
        run_checkpoint: The `RunCheckpoint` of the training.

    Raises:
        RunFolderLost: With the path of the new folder.
    """
    try:
        yield
    except FileNotFoundError as error:
        if run.path.is_dir():
            raise
        raise RunFolderLost(errno.ENOENT, message_about(run, save_elsewhere(run, model, run_checkpoint))) from error


def save_elsewhere(run, model, run_checkpoint):
    """Saves a training in a new run folder: beside the old one or, if that is impossible, in the temporary folder.

    Returns:
        The path of the new folder; None if there is no room anywhere.
    """
    for parent in (run.path.parent, pathlib.Path(tempfile.gettempdir())):
        path = parent / f"{run.path.name}-rescued"
        with contextlib.suppress(InputError, OSError):
            target = None if run.target_tokenizer is run.tokenizer else run.target_tokenizer
            rescued = Run.create(path, run.config, run.tokenizer, run.corpus, target_tokenizer=target)
            rows = list(run_checkpoint.rows)
            about = rows[-1] if rows else {"epoch": 0}
            rescued.save_weights(snapshot(run_checkpoint.average.averages()), about)
            save_checkpoint(rescued, snapshot(state(model)), run_checkpoint.step, rows, run_checkpoint.seconds())
            return path
    return None


def message_about(run, rescued):
    """Returns the message that the folder of a run is gone, and where its training was saved, if it was."""
    path = os.fspath(run.path)
    if rescued is None:
        return _(
            "{path}: the folder was moved or deleted during training, and no other place can be written", path=path
        )
    return _(
        "{path}: the folder was moved or deleted during training. Its latest state is saved in {rescued}: "
        "to resume, run the same command with --run {rescued}, or with the path to which the folder was moved",
        path=path,
        rescued=rescued,
    )
