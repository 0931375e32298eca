import contextlib
import os
import subprocess
import sys
import threading

import filelock
import pytest

from keras_transformer import InputError
from keras_transformer.runs import lock

HOLDING = """
import sys, time
from keras_transformer.runs.lock import locked
with locked(sys.argv[1]):
    print(flush=True)
    time.sleep(600)
"""


def test_a_second_training_is_refused_while_the_first_goes_on(tmp_path):
    with lock.locked(tmp_path):
        message = rf"another training \(process {os.getpid()}\) is writing to it; wait for it, or name another"
        with pytest.raises(InputError, match=message), lock.locked(tmp_path):
            pass
    with lock.locked(tmp_path):
        pass


def test_the_lock_of_a_killed_process_locks_nobody_out(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(tmp_path)], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with pytest.raises(InputError, match=rf"\(process {process.pid}\)"), lock.locked(tmp_path):
            pass
        process.kill()
        process.wait()
        with lock.locked(tmp_path):
            pass


def test_waiting_for_the_lock(tmp_path):
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock.locked(tmp_path))
        threading.Timer(0.1, stack.close).start()
        with lock.locked(tmp_path, wait=60):
            pass


def test_where_nothing_can_be_locked_training_goes_on_with_a_warning(tmp_path, monkeypatch):
    def unsupported(descriptor, blocking):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(filelock, "lock_descriptor", unsupported)
    message = r"cannot be locked \(Function not implemented\): do not start another training"
    with pytest.warns(UserWarning, match=message), lock.locked(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: cannot be written: No such file"), lock.locked(tmp_path / "nowhere"):
        pass


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_the_target_of_a_link_is_not_overwritten(tmp_path):
    (tmp_path / "mine").write_text("text")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/lock").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="run/lock: a link, where the lock must be"), lock.locked(tmp_path / "run"):
        pass
    assert (tmp_path / "mine").read_text() == "text"
