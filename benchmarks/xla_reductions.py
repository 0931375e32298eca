"""Does XLA on a CPU still crash if a compiled program runs twice at a time? See `backend/xla.py` for the background.

    python -m benchmarks.xla_reductions [--attempts N] [--seconds S] [--threads T]

Each attempt is a process. It compiles one program after another, each with many reductions that are large enough for
XLA's reduction library (YNNPACK). Several threads make the first calls of a program at the same time. The benchmark
prints the number of attempts that were ended by a signal. It needs only TensorFlow.

The crash is rare: none of 10 attempts of 15 seconds with TensorFlow 2.21.0 on two busy cores was ended by a signal.
This does not prove that the crash is fixed. Run many attempts on many cores.
"""

import argparse
import collections
import signal
import subprocess
import sys
import threading
import time

PROGRAM = [sys.executable, __file__, "--attempt"]
ROWS, WIDTH, WIDTHS = 128, 512, 256  # Shapes: each program has a width of its own, so that none is compiled already.
REDUCTIONS, CALLS = 64, 5  # In each program; by each thread, because only the first calls lay out reductions.


def main(arguments=None):
    parser = argparse.ArgumentParser(
        "python -m benchmarks.xla_reductions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, default=10, metavar="N", help="number of processes (default: 10)")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="seconds per attempt (default: 20)")
    parser.add_argument("--threads", type=int, default=4, metavar="T", help="concurrent calls (default: 4)")
    parser.add_argument("--attempt", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.attempt:
        attempt(options.seconds, options.threads)
    else:
        print(in_words(run_attempts(options.attempts, options.seconds, options.threads)))


def run_attempts(count, seconds, threads):
    """Runs the attempts, each in a separate process.

    Returns:
        A list of the exit status of each attempt, or minus the number of the signal that ended it.

    Raises:
        RuntimeError: If an attempt failed in another way.
    """
    statuses = []
    for _ in range(count):
        command = [*PROGRAM, "--seconds", str(seconds), "--threads", str(threads)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode > 0:
            raise RuntimeError(f"an attempt failed with status {done.returncode}:\n{done.stderr}")
        statuses.append(done.returncode)
    return statuses


def in_words(statuses):
    """Returns exit statuses as a line."""
    signals = collections.Counter(signal.Signals(-status).name for status in statuses if status < 0)
    kinds = ", ".join(f"{count} by {name}" for name, count in signals.items())
    return f"{signals.total()} of {len(statuses)} attempts ended by a signal" + (f": {kinds}" if kinds else "")


def attempt(seconds, threads):
    """Compiles and calls programs for the given seconds, at least one program."""
    end, number = time.monotonic() + seconds, 0
    while number == 0 or time.monotonic() < end:
        call_at_once(*make_program(WIDTH + number % WIDTHS), threads)
        number += 1


def make_program(width):
    """Returns a function that XLA compiles at its first call, and its arguments."""
    import tensorflow as tf

    def sums(*tables):
        return [tf.reduce_sum(table, axis=-1) for table in tables]

    tables = [tf.ones((ROWS, width)) for _ in range(REDUCTIONS)]
    return tf.function(sums, jit_compile=True, autograph=False).get_concrete_function(*tables), tables


def call_at_once(program, arguments, threads):
    """Calls a function from several threads that start at the same time."""
    start = threading.Barrier(threads)

    def call():
        start.wait()
        for _ in range(CALLS):
            program(*arguments)

    callers = [threading.Thread(target=call) for _ in range(threads)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()


if __name__ == "__main__":
    main()
