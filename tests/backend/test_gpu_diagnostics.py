"""Machines are folders here, with the files that Linux keeps of its devices and drivers."""

import keras
import pytest

from keras_transformer.backend import gpu_diagnostics
from keras_transformer.backend.gpu_diagnostics import explain_under_windows, explain_unseen_gpu

VERSION = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version: 13.2.0"


def put(root, **files):
    """Writes files by their paths, in which "__" stands for a slash."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """One with a GPU, its driver and the CUDA libraries."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(gpu_diagnostics, "is_installed", lambda module: True)
    put(tmp_path, sys__bus__pci__devices__a__vendor="0x10de\n", sys__bus__pci__devices__a__class="0x030200\n")
    put(tmp_path, proc__driver__nvidia__version=VERSION, dev__nvidia0="")
    return tmp_path


def test_a_machine_without_a_gpu_needs_no_explanation(tmp_path):
    assert explain_unseen_gpu(tmp_path) is None
    put(tmp_path, sys__bus__pci__devices__a__vendor="0x8086", sys__bus__pci__devices__a__class="0x030000")  # Intel's.
    put(tmp_path, sys__bus__pci__devices__b__vendor="0x10de", sys__bus__pci__devices__b__class="0x040300")  # Its sound.
    assert explain_unseen_gpu(tmp_path) is None


@pytest.mark.parametrize("value", ["", "-1"])
def test_a_gpu_that_the_user_hides(machine, monkeypatch, value):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert "CUDA_VISIBLE_DEVICES hides it; unset it" in explain_unseen_gpu(machine)


def test_a_gpu_without_a_driver(machine):
    (machine / "proc/driver/nvidia/version").unlink()
    assert "its driver is not loaded; install the NVIDIA driver" in explain_unseen_gpu(machine)


def test_a_driver_that_is_too_old(machine):
    put(machine, proc__driver__nvidia__version=VERSION.replace("550", "470"))
    assert "its driver is 470; CUDA 12 needs 525 or newer" in explain_unseen_gpu(machine)
    put(machine, proc__driver__nvidia__version=VERSION.replace("550", "525"))
    assert "driver" not in explain_unseen_gpu(machine)


def test_a_container_that_was_not_given_the_gpu(machine):
    (machine / "dev/nvidia0").unlink()
    assert "a container has to be started with --gpus all" in explain_unseen_gpu(machine)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="names TensorFlow")
def test_missing_libraries(machine, monkeypatch):
    monkeypatch.setattr(gpu_diagnostics, "is_installed", lambda module: module != "nvidia.cudnn")
    assert explain_unseen_gpu(machine) == (
        "This machine has an NVIDIA GPU that TensorFlow does not see: "
        "the CUDA libraries are missing; pip install 'tensorflow[and-cuda]'."
    )


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="names TensorFlow")
def test_where_all_is_there_tensorflow_itself_can_tell(machine):
    assert "set TF_CPP_MIN_LOG_LEVEL=0 and run again" in explain_unseen_gpu(machine)


def test_wsl_has_the_driver_of_windows(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu_diagnostics, "is_installed", lambda module: False)
    put(tmp_path, usr__lib__wsl__lib__libcuda__so__1="")
    assert explain_unseen_gpu(tmp_path) is None  # Another file: its dots are slashes.
    (tmp_path / "usr/lib/wsl/lib/libcuda.so.1").write_text("")
    assert "the CUDA libraries are missing" in explain_unseen_gpu(tmp_path)


def test_each_backend_is_told_what_to_install(machine, monkeypatch):
    monkeypatch.setattr(gpu_diagnostics, "is_installed", lambda module: False)
    said = {}
    for backend in gpu_diagnostics.FRAMEWORKS:
        monkeypatch.setattr(keras.backend, "backend", lambda backend=backend: backend)
        said[backend] = explain_unseen_gpu(machine)
    assert "TensorFlow does not see" in said["tensorflow"]
    assert "pip install 'jax[cuda12]'" in said["jax"]
    assert "PyTorch does not see" in said["torch"]


def test_a_module_within_a_package_that_is_missing_is_missing():
    assert gpu_diagnostics.is_installed("keras.layers")
    assert not gpu_diagnostics.is_installed("keras.no_such")
    assert not gpu_diagnostics.is_installed("no_such_package.module")


def test_windows_has_no_gpu_for_tensorflow(monkeypatch):
    tensorflow = gpu_diagnostics.FRAMEWORKS["tensorflow"]
    monkeypatch.setattr(gpu_diagnostics.shutil, "which", lambda program: None)
    assert explain_under_windows(tensorflow) is None
    monkeypatch.setattr(gpu_diagnostics.shutil, "which", lambda program: program)
    assert "within WSL 2" in explain_under_windows(tensorflow)
