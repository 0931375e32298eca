"""How a program is run and measured: a whole process, its output, its wall time and its peak memory."""

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
    """What cannot be measured, or its results not be written; the message is the reason, in one line."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a program went.

    Attributes:
        output: Its standard output.
        errors: Its standard error.
        status: Its exit status, or minus the number of the signal that ended it.
        seconds: Wall time from its start to its end.
        peak_mb: Peak resident memory in MB.
    """

    output: str
    errors: str
    status: int
    seconds: float
    peak_mb: float

    def check(self):
        """Raises `Failed` with the last line of standard error if the program failed; returns the outcome."""
        if self.status == 0:
            return self
        lines = self.errors.strip().splitlines()
        raise Failed(lines[-1].strip() if lines else how_it_ended(self.status))


def how_it_ended(status):
    """An exit status in words, for a program that said nothing."""
    if status < 0:
        return f"ended by {signal.Signals(-status).name}, without a word"
    return f"exit status {status}, without a word"


def run_program(command, watch=None):
    """Runs a program to its end.

    The program does not outlive this call, whatever ends it.

    Args:
        command: Its words.
        watch: Called a few times a second with the seconds since the start and the output so far; the program is
            stopped when it returns true. It is called once more after the end, so that it misses nothing.

    Returns:
        The `Outcome`.
    """
    with tempfile.TemporaryDirectory() as folder:
        output, errors, report = (pathlib.Path(folder) / name for name in ("output", "errors", "report.json"))
        begin = time.perf_counter()
        with open(output, "wb") as out, open(errors, "wb") as err:
            launcher = subprocess.Popen(
                [sys.executable, LAUNCHER, report, *map(str, command)], stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )
        try:
            wait(launcher, watch and (lambda: watch(time.perf_counter() - begin, text_of(output))))
        finally:
            launcher.terminate()  # Which ends the program too; nothing happens if they have ended.
            launcher.wait()
        if not report.exists():
            used = {"status": launcher.returncode or 1, "seconds": time.perf_counter() - begin, "peak_mb": 0.0}
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
    """The text of a file that may still grow."""
    return path.read_text("utf-8", "replace")


def steady_speed(speeds):
    """Pairs per second over all epochs but the first, which traces and compiles; every epoch has the same pairs.

    Raises:
        Failed: If there are no two epochs.
    """
    if len(speeds) < 2:
        raise Failed(f"gave figures for {len(speeds)} epochs; speed is measured from the second on")
    return statistics.harmonic_mean(speeds[1:])
