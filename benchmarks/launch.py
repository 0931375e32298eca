"""Runs one program and records its resource usage; `programs.py` starts it in a separate process.

    python launch.py REPORT PROGRAM [ARGUMENT …]

Until a new process loads its program, it counts its parent's memory as its own, and the peak recorded by the operating
system includes it. The process that starts a measured program must therefore be small. This one is; a benchmark that
holds a model is not.
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
    """Returns the peak resident memory in MB (10^6 bytes) of a `resource` usage record."""
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6  # macOS reports bytes, Linux KiB.


def resident_mb():
    """Returns the resident memory of this process in MB; its peak if the system does not report the current value."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return peak_mb(resource.getrusage(resource.RUSAGE_SELF))


def main(report, *command):
    """Runs the command and writes its exit status, peak memory, wall and CPU time to the report."""
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
    about = {"status": program.returncode, "peak_mb": peak_mb(used), "seconds": seconds}
    with open(report, "w", encoding="utf-8") as file:
        json.dump({**about, "cpu_seconds": used.ru_utime + used.ru_stime}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
