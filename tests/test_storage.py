import errno
import os
import subprocess
import sys

import numpy as np
import pytest
import safetensors.numpy

from keras_transformer import DiskFull
from keras_transformer.storage import (
    in_words,
    load_tensors,
    remove_leftovers,
    replacing,
    save_tensors,
    write_atomically,
)


def test_tensors_come_back_with_the_facts_about_them(tmp_path):
    tensors = {"a": np.arange(6, dtype="float32").reshape(2, 3), "무게": np.array(7, "int64"), "none": np.zeros((0, 2))}
    save_tensors(tmp_path / "t.safetensors", tensors, "id", {"rows": [1, "둘"]})
    loaded, about = load_tensors(tmp_path / "t.safetensors", "id")
    assert about == {"rows": [1, "둘"]}
    assert {name: value.tolist() for name, value in loaded.items()} == {
        "a": [[0, 1, 2], [3, 4, 5]], "무게": 7, "none": [],
    }  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint32", "bool"])
def test_the_file_is_of_the_safetensors_format(tmp_path, dtype):
    array = np.array([[1, 0], [3, 4], [5, 6]]).astype(dtype)
    tensors = {"array": array, "across": array.T}
    save_tensors(tmp_path / "t.safetensors", tensors, "id", {})
    loaded = safetensors.numpy.load_file(tmp_path / "t.safetensors")
    assert {value.dtype for value in loaded.values()} == {np.dtype(dtype)}
    for name, expected in {"array": array, "across": array.T}.items():
        np.testing.assert_array_equal(loaded[name], expected)


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
