"""Errors with causes outside the program. Each has a one-line message that a user can act on."""

import contextlib
import difflib
import errno
import importlib
import os
import pathlib
import tempfile

from keras_transformer.language import translatable
from keras_transformer.language import translate as _

DISTRIBUTION = "keras-transformer-trainer"
"""The name to install this package by. `keras-transformer` is another project's."""

NO_ROOM = {
    errno.ENOSPC: translatable("disk full"),
    errno.EDQUOT: translatable("disk quota used up"),
    errno.EFBIG: translatable("limit of file sizes reached"),
}
"""Descriptions of the operating system errors that mean a full disk."""


class InputError(ValueError):
    """An invalid file, value or option that the user can correct.

    The one-line message says what is wrong, where, and what to do. The command line prints it without a traceback and
    exits with status 2.
    """


class CorpusTooSmall(InputError):
    """The split of a corpus leaves no training pairs or no validation pairs."""


class NoPairs(InputError):
    """A corpus file contains no usable pair.

    Args:
        message: The error.
        left_out: The message about its unusable rows, for a file that need not have pairs; None if there are no rows.
    """

    def __init__(self, message, left_out):
        super().__init__(message)
        self.left_out = left_out


class DiskFull(OSError):
    """The disk is too full to write a file of the run. Files saved before are intact.

    `strerror` is one line that names the file and what to do. The command line prints it and exits with status 1.
    """


class RunFolderLost(OSError):
    """The run folder was moved or deleted during its training.

    `strerror` is one line that says where the weights are now. The command line prints it and exits with status 1.
    """


class DownloadFailed(OSError):
    """A file of a corpus, or a trained run, could not be downloaded.

    The received bytes are kept, so that the download can be resumed.
    `strerror` is one line that names the address, the reason, and what to do. The command line prints it and exits
    with status 1.

    Attributes:
        reason: The reason alone.
    """

    reason = ""


class RunLocked(InputError):
    """Another process is training in the run folder."""


class TrainingDiverged(RuntimeError):
    """Training keeps diverging after restarts with lower learning rates."""


class ProcessLost(RuntimeError):
    """Another process of a distributed training was lost."""


class WorkersLost(RuntimeError):
    """The workers of a training on Ray failed more often than the number of retries."""


def no_such_file(path):
    """Returns the `InputError` about a file that does not exist, which names a similar one if there is one."""
    return _missing(_("{path}: no such file", path=path), path, os.path.isfile)


def no_such_run(path):
    """Returns the `InputError` about a run folder that does not exist, which names a similar one if there is one."""
    return _missing(_("{path}: there is no such run folder", path=path), path, os.path.isdir)


def _missing(error, path, is_one):
    similar = similar_path(path, is_one)
    if similar is None:
        return InputError(error)
    return InputError(_("{error}; did you mean {similar}?", error=error, similar=similar))


def similar_path(path, is_one, cutoff=0.6):
    """Returns the existing path that was probably meant; None if no path is similar.

    A folder of the path may be misspelled too, or the ending of the file missing.

    Args:
        path: A path that does not exist.
        is_one: Function that returns whether an existing path is of the kind that is wanted.
        cutoff: Minimum similarity of the names without their endings, from 0 to 1.
    """
    path = pathlib.Path(path)
    folder = path.parent if path.parent.is_dir() else similar_path(path.parent, os.path.isdir)
    if folder is None or path.parent == path:
        return None
    if os.path.exists(folder / path.name):  # Unlike `Path.exists`, it takes names that are too long.
        return folder / path.name if is_one(folder / path.name) else None
    try:
        found = [entry for entry in sorted(folder.iterdir()) if is_one(entry)]
    except OSError:
        return None
    # Without their endings, which make any two short names similar.
    stems = difflib.get_close_matches(path.stem.lower(), {entry.stem.lower() for entry in found}, n=1, cutoff=cutoff)
    named = {entry.name.lower(): entry for entry in found if entry.stem.lower() in stems}
    similar = difflib.get_close_matches(path.name.lower(), named, n=1, cutoff=0)
    return named[similar[0]] if similar else None


@contextlib.contextmanager
def temporary_space(what):
    """Context manager that raises `DiskFull`, with the name of the temporary folder, if that is full.

    Args:
        what: What is written there, in the language of the messages.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        message = _(
            "{reason}: {what} does not fit into {folder}: make room, or name another folder by the environment "
            "variable TMPDIR",
            reason=_(NO_ROOM[error.errno]),
            what=what,
            folder=tempfile.gettempdir(),
        )
        raise DiskFull(error.errno, message) from error


def import_extra(module, extra, what):
    """Imports a module of a package that an extra of this package installs.

    Args:
        module: Name of the module, such as "ray.train".
        extra: Name of the extra.
        what: What needs the package, the subject of the error message, such as "serving".

    Returns:
        The module.

    Raises:
        InputError: If the package is missing; with another message if it is there but fails to import.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name in (package, module):
            raise InputError(
                _(
                    "{what} needs the package {package}, which is missing: pip install '{distribution}[{extra}]'",
                    what=_(what),
                    package=package,
                    distribution=DISTRIBUTION,
                    extra=extra,
                )
            ) from error
        cause = " ".join(str(error).split())
        raise InputError(
            _(
                "{what} needs the package {package}, which is installed but cannot be imported: {cause}. "
                "Reinstall it: pip install --force-reinstall {package}",
                what=_(what),
                package=package,
                cause=cause,
            )
        ) from error
