"""Errors with causes outside the program. Each has a one-line message that a user can act on."""

import errno
import importlib

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


class DiskFull(OSError):
    """The disk is too full to write a file of the run. Files saved before are intact.

    `strerror` is one line that names the file and what to do. The command line prints it and exits with status 1.
    """


class DownloadFailed(OSError):
    """A file of a corpus could not be downloaded. The received bytes are kept, so that the download can be resumed.

    `strerror` is one line that names the address, the reason, and what to do. The command line prints it and exits
    with status 1.
    """


class RunLocked(InputError):
    """Another process is training in the run folder."""


class TrainingDiverged(RuntimeError):
    """Training keeps diverging after restarts with lower learning rates."""


class ProcessLost(RuntimeError):
    """Another process of a distributed training was lost."""


class WorkersLost(RuntimeError):
    """The workers of a training on Ray failed more often than the number of retries."""


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
