"""Runs one program and notes what it used; started by `programs.py`, in a process of its own.

    python launch.py REPORT PROGRAM [ARGUMENT …]

A new process counts its parent's memory as its own until it loads its program, and the system's record of the peak
keeps that. So whoever starts a program to be measured must be small: this file is, a benchmark with a model is not.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time


def peak_mb(used):
    """Peak resident memory in MB (10^6 bytes) of a `resource` usage record."""
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6  # macOS gives bytes, Linux KiB.


def resident_mb():
    """Memory in MB that is resident in this process now; where the system does not tell, its peak so far."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return peak_mb(resource.getrusage(resource.RUSAGE_SELF))


def main(report, *command):
    """Runs the command to its end; the report gets its exit status, peak memory and wall time."""
    begin = time.perf_counter()
    program = subprocess.Popen(command)

    def kill(*_):
        with contextlib.suppress(ProcessLookupError):
            os.kill(program.pid, signal.SIGKILL)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, kill)
    _, status, used = os.wait4(program.pid, 0)
    seconds = time.perf_counter() - begin
    program.returncode = os.waitstatus_to_exitcode(status)
    with open(report, "w", encoding="utf-8") as file:
        json.dump({"status": program.returncode, "peak_mb": peak_mb(used), "seconds": seconds}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
