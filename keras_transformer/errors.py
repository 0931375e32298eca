"""The one error that means "what you gave cannot be used": the message is a line a user can act on."""


class InputError(ValueError):
    """A file, value or option that the user gave and can mend.

    The message says what is wrong, where, and what to do, in one line. The command line prints it without a
    traceback and exits with status 2.
    """
