"""What can go wrong for reasons outside the program, each said in one line that a user can act on."""


class InputError(ValueError):
    """A file, value or option that the user gave and can mend.

    The message says what is wrong, where, and what to do, in one line. The command line prints it without a
    traceback and exits with status 2.
    """


class DiskFull(OSError):
    """There is no room for a file of the run; what was saved before is intact.

    `strerror` names the file and what to do, in one line. The command line prints it and exits with status 1.
    """
