import contextlib
import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from keras_transformer import DiskFull
from keras_transformer.runs.atomic_io import in_words, remove_leftovers, replacing, write_atomically
from keras_transformer.runs.tensor_file import save_tensors


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    file = tmp_path / "file"
    write_atomically(file, b"old")
    with pytest.raises(AttributeError):
        save_tensors(file, {"a": np.zeros(2), "b": "no array"}, "id", {})
    with pytest.raises(RuntimeError), replacing(file, 3) as new:
        new.write(b"new")
        raise RuntimeError
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("number", "reason"), [(errno.ENOSPC, "disk full"), (errno.EDQUOT, "disk quota used up")],
)  # fmt: skip
def test_a_full_disk_leaves_the_old_file_and_says_what_to_do(tmp_path, monkeypatch, number, reason):
    file = tmp_path / "weights.safetensors"
    write_atomically(file, b"old")

    def full(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull) as raised:
        save_tensors(file, {"a": np.zeros(500_000)}, "id", {})
    assert raised.value.strerror == (
        f"{reason}: could not write {file} (needs 4 MB); "
        "what was saved before is intact: make room and run the same command again"
    )
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["weights.safetensors"]


def test_another_fault_of_the_system_is_not_called_a_full_disk(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere/file", b"")


@pytest.mark.skipif(os.name == "nt", reason="Windows itself keeps what a living process has open")
def test_only_what_dead_processes_left_half_written_is_removed(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    ours = f".weights.safetensors.{os.getpid()}.part"  # Of a process before, that had our number.
    kept = {f".weights.safetensors.{os.getppid()}.part", ".mine.part", "weights.safetensors"}
    for name in {ours, f".weights.safetensors.{dead.pid}.part", *kept}:
        (tmp_path / name).write_text("half")
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_sizes_in_words():
    assert [in_words(size) for size in (0, 1, 999_999, 143_000_704)] == ["0 kB", "1 kB", "1000 kB", "143 MB"]


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be synced there")
def test_the_name_of_a_file_is_on_the_disk_as_well(tmp_path, monkeypatch):
    fsync, synced = os.fsync, []

    def noting(descriptor):
        synced.append((os.fstat(descriptor).st_ino, (tmp_path / "file").exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    write_atomically(tmp_path / "file", b"new")
    assert synced == [((tmp_path / "file").stat().st_ino, False), (tmp_path.stat().st_ino, True)]


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be synced there")
@pytest.mark.parametrize(("number", "name"), [(errno.EINVAL, None), (errno.EIO, "Input/output error")])
def test_a_file_system_that_syncs_no_folders_is_enough(tmp_path, monkeypatch, number, name):
    def failing(descriptor):
        if os.fstat(descriptor).st_ino == tmp_path.stat().st_ino:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", failing)
    with contextlib.nullcontext() if name is None else pytest.raises(OSError, match=name):
        write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
