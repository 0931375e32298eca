"""Commands of this package in processes of their own, which report progress and can be cancelled."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import weakref

from keras_transformer.errors import InputError
from keras_transformer.language import current_language, language_of_context
from keras_transformer.language import translate as _

POLL = 0.2  # Seconds.
PROGRAM = "keras-transformer: "  # Begins warnings and errors, which are not progress.


class Cancelled(InputError):
    """The visitor cancelled a command."""


class Command:
    """A command that has been started.

    Args:
        *words: Its words, without the program's name; paths or texts. None of them is read by a shell.
    """

    def __init__(self, *words):
        self.stopped, self.language = False, current_language()
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._output, self._errors = (pathlib.Path(folder, name) for name in ("output", "errors"))
        with open(self._output, "wb") as output, open(self._errors, "wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "keras_transformer", "--lang", self.language, *map(str, words)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                start_new_session=True,  # Ctrl-C on the terminal is for the studio, which stops its commands itself.
            )  # fmt: skip

    @property
    def running(self):
        """Whether it has not ended."""
        return self.process.poll() is None

    def stop(self):
        """Asks it to stop, by SIGTERM: a process of the background ignores Ctrl-C. A training saves its state first."""
        self.stopped = True
        self.process.terminate()

    def lines(self):
        """Returns the lines that it has printed to standard error."""
        return self._errors.read_text("utf-8", "replace").splitlines()

    def progress(self):
        """Yields its latest line of progress again and again until it ends."""
        while self.running:
            said = [line for line in self.lines() if line.strip() and not line.startswith(PROGRAM)]
            yield said[-1] if said else ""
            time.sleep(POLL)

    def result(self, statuses=(0,)):
        """Returns its standard output; raises `InputError` with its message if it has failed."""
        status = self.process.wait()
        if self.stopped:
            raise Cancelled(_("Cancelled."))
        if status not in statuses:
            raise InputError(self.message())
        return self._output.read_text("utf-8", "replace")

    def message(self):
        """Returns the line that says why it has failed."""
        said = [line for line in self.lines() if line.strip()]
        with language_of_context(self.language):
            error = _("keras-transformer: error: {error}", error="")
            failure = _("keras-transformer: failed: {reason}", reason="")
        for begin in (error, failure):
            if errors := [line.removeprefix(begin) for line in said if line.startswith(begin)]:
                return errors[-1]
        return (said or [_("the command has ended unexpectedly")])[-1]


class Running:
    """The commands that visitors wait for, one for each visitor and purpose."""

    def __init__(self):
        self._commands = {}

    def steps(self, key, command):
        """Yields the progress of a command, which can be cancelled by its key until it ends."""
        self.cancel(key)
        self._commands[key] = command
        try:
            yield from command.progress()
        finally:
            command.stop() if command.running else None
            self._commands.pop(key, None)

    def cancel(self, key):
        """Cancels a command, if it runs."""
        if command := self._commands.get(key):
            command.stop()

    def cancel_all(self, session=None):
        """Cancels all commands of a visitor, or of all visitors."""
        for key in list(self._commands):
            if session in (None, key[0]):
                self.cancel(key)
