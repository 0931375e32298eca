"""What can go wrong for reasons outside the program, each said in one line that a user can act on."""

import errno

NO_ROOM = {
    errno.ENOSPC: "disk full",
    errno.EDQUOT: "disk quota used up",
    errno.EFBIG: "limit of file sizes reached",
}
"""Errors of the operating system that mean a full disk, in words."""


class InputError(ValueError):
    """A file, value or option that the user gave and can mend.

    The message says what is wrong, where, and what to do, in one line. The command line prints it without a
    traceback and exits with status 2.
    """


class CorpusTooSmall(InputError):
    """The split of a corpus leaves no pair to train or to validate with."""


class DiskFull(OSError):
    """There is no room for a file of the run; what was saved before is intact.

    `strerror` names the file and what to do, in one line. The command line prints it and exits with status 1.
    """


class DownloadFailed(OSError):
    """A file of a corpus could not be fetched; what has arrived of it is kept, to go on from.

    `strerror` names the address, the reason, and what to do instead, in one line. The command line prints it and exits
    with status 1.
    """


class RunLocked(InputError):
    """Another training writes to the run folder."""


class TrainingDiverged(RuntimeError):
    """Training diverged again and again, although it was restarted with lower learning rates."""


class ProcessLost(RuntimeError):
    """Another process of the training is no longer there."""


class WorkersLost(RuntimeError):
    """Workers of a training on Ray failed more often than is made good."""
