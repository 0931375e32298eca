"""Runs what every checkout can measure: whether the model learns (`tasks`), and how fast (`training`).

    python -m benchmarks [--peers FOLDER] [--corpus FILE] …

The options are those of `benchmarks.training`. The other measurements take longer or need more; run them by name.
"""

import subprocess
import sys

from benchmarks import training
from benchmarks.command import start


def main(arguments=None):
    options = training.parser(name=None, about=__doc__).parse_args(arguments)
    # In a process of its own, so that its memory is gone and its threads are still when speed is measured.
    tasks = subprocess.run([sys.executable, "-m", "benchmarks.tasks", "--results", options.results])
    if tasks.returncode:
        sys.exit(tasks.returncode)
    training.main(arguments)


if __name__ == "__main__":
    start(main)
