"""Runs the benchmarks that every checkout can run: whether the model learns (`tasks`), and how fast (`training`).

    python -m benchmarks [--peers FOLDER] [--corpus FILE] …

The options are those of `benchmarks.training`. The other benchmarks take longer or need more resources; run them by
name.
"""

import subprocess
import sys

from benchmarks import training
from benchmarks.command import start


def main(arguments=None):
    options = training.parser(name=None, about=__doc__).parse_args(arguments)
    # In a separate process, so that its memory and threads do not affect the speed measurement.
    tasks = subprocess.run([sys.executable, "-m", "benchmarks.tasks", "--results", options.results])
    if tasks.returncode:
        sys.exit(tasks.returncode)
    training.main(arguments)


if __name__ == "__main__":
    start(main)
