"""Runs a program in a separate process and measures it: output, wall time and peak memory."""

import dataclasses
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LAUNCHER = pathlib.Path(__file__).with_name("launch.py")
SECONDS_BETWEEN_LOOKS = 0.25


class Failed(Exception):
    """A measurement failed, or its results could not be written; the message is the reason in one line."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of running a program.

    Attributes:
        output: Its standard output.
        errors: Its standard error.
        status: Its exit status, or minus the number of the signal that ended it.
        seconds: Wall time in seconds.
        cpu_seconds: User and system CPU time in seconds.
        peak_mb: Peak resident memory in MB.
    """

    output: str
    errors: str
    status: int
    seconds: float
    cpu_seconds: float
    peak_mb: float

    def check(self):
        """Returns the outcome; raises `Failed` with the last line of standard error if the program failed."""
        if self.status == 0:
            return self
        lines = self.errors.strip().splitlines()
        raise Failed(lines[-1].strip() if lines else how_it_ended(self.status))


def how_it_ended(status):
    """Describes an exit status in words, for a program that printed no error."""
    if status < 0:
        return f"ended by {signal.Signals(-status).name}, without a word"
    return f"exit status {status}, without a word"


def run_program(command, watch=None, stdin=subprocess.DEVNULL):
    """Runs a program to its end.

    The program is ended with this call, even if the call is interrupted.

    Args:
        command: The command line, a list of words.
        watch: Function of the elapsed seconds and the output so far, called a few times per second and once after the
            end. If it returns true, the program is stopped.
        stdin: An open file for its standard input; nothing by default.

    Returns:
        The `Outcome`.
    """
    with tempfile.TemporaryDirectory() as folder:
        output, errors, report = (pathlib.Path(folder) / name for name in ("output", "errors", "report.json"))
        begin = time.perf_counter()
        with open(output, "wb") as out, open(errors, "wb") as err:
            launcher = subprocess.Popen(
                [sys.executable, LAUNCHER, report, *map(str, command)], stdin=stdin, stdout=out, stderr=err
            )
        try:
            wait(launcher, watch and (lambda: watch(time.perf_counter() - begin, text_of(output))))
        finally:
            launcher.terminate()  # Also ends the program; no effect if both have ended.
            launcher.wait()
        if not report.exists():
            seconds = time.perf_counter() - begin
            used = {"status": launcher.returncode or 1, "seconds": seconds, "cpu_seconds": 0.0, "peak_mb": 0.0}
        else:
            used = json.loads(report.read_text("utf-8"))
        return Outcome(text_of(output), text_of(errors), **used)


def wait(process, wants_stop=None):
    """Waits for the end of a process, or until `wants_stop` returns true."""
    if wants_stop is None:
        process.wait()
        return
    while process.poll() is None:
        if wants_stop():
            return
        time.sleep(SECONDS_BETWEEN_LOOKS)
    wants_stop()


def text_of(path):
    """Returns the text of a file that may still grow."""
    return path.read_text("utf-8", "replace")


def steady_speed(speeds):
    """Returns the pairs per second over all epochs but the first, which traces and compiles.

    Every epoch has the same number of pairs.

    Raises:
        Failed: If there are fewer than two epochs.
    """
    if len(speeds) < 2:
        raise Failed(f"gave figures for {len(speeds)} epochs; speed is measured from the second on")
    return statistics.harmonic_mean(speeds[1:])
