"""What may happen to a training: it ends in words, or with the very result of a training that nothing happened to."""

import os
import random
import signal
import time

import pytest

from ..training.test_resuming import assert_same, contents

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="no such signals here")]
CLOCK = """
import itertools, time

real, jumps = time.time, itertools.cycle([0.0, -1e6, 1e6, 0.0, 3.0])
time.time = lambda: real() + next(jumps)
"""
NO_LOCKS = """
import errno, filelock, os

def lock(*_, **__):
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

filelock.lock_descriptor = lock
"""
NO_GPU_LIBRARY = """
import os

os.environ["LD_LIBRARY_PATH"], os.environ["CUDA_VISIBLE_DEVICES"] = "/nowhere", "0"
"""
FULL = """
import resource

resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
"""


def ended(process):
    """The exit status of a process that ends."""
    process.join()
    return process.exitcode


@pytest.fixture
def expected(train, tmp_path):
    """The contents of a run that nothing happened to."""
    assert ended(train(tmp_path / "undisturbed")) == 0
    return contents(tmp_path / "undisturbed")


def test_nothing_but_words_or_the_same_result(train, expected, tmp_path, record_property):
    """In turn, because the undisturbed training takes as long as each of them."""
    run, chance, count = tmp_path / "run", random.Random(0), 0

    def finish(name):
        nonlocal count
        count += 1
        assert ended(train(tmp_path / name)) == 0
        assert_same(contents(tmp_path / name), expected)
        assert not list((tmp_path / name).glob(".*.part"))

    for name, fault in {"clock": CLOCK, "no locks": NO_LOCKS, "no library": NO_GPU_LIBRARY}.items():
        assert ended(train(tmp_path / name, fault)) == 0
        finish(name)

    for size in (1_000, 20_000, 60_000):  # A disk that is full for the tokenizer, the checkpoint, the rest.
        assert ended(train(tmp_path / f"full {size}", FULL.format(size=size))) in (0, 1)
        finish(f"full {size}")

    for number in range(4):
        process = train(tmp_path / f"terminated {number}")
        process.join(chance.uniform(0, 12))
        process.terminate()
        assert ended(process) in (0, 130, -signal.SIGTERM)  # The last before its handler is there.
        finish(f"terminated {number}")

    process = train(run)
    for _ in range(5):
        process.join(chance.uniform(0, 2))
        if process.is_alive():
            os.kill(process.pid, signal.SIGSTOP)
            time.sleep(0.5)
            os.kill(process.pid, signal.SIGCONT)
    assert ended(process) == 0
    finish("run")

    first, second = train(tmp_path / "two"), train(tmp_path / "two")
    assert sorted([ended(first), ended(second)]) in ([0, 0], [0, 2])  # The second waits for nobody.
    finish("two")
    record_property("figures", f"{count:7} faults of a training: the same result after each")


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(train, tmp_path):
    (tmp_path / "run").mkdir(mode=0o500)
    assert ended(train(tmp_path / "run")) == 2
    assert os.listdir(tmp_path / "run") == []
