import os

import keras
import pytest

from keras_transformer.backend.devices import Devices, cores, prepare_devices


def test_a_process_has_the_cores_that_it_is_bound_to():
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system binds no process to cores")
    before = os.sched_getaffinity(0)
    assert cores() == len(before)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_devices_in_words():
    assert str(Devices()).startswith(f"CPU ({cores()} cores; ")
    assert str(Devices(("a", "b", "a"), (8, 0))).startswith("GPU (2 × a, b; ")


@pytest.mark.parametrize(
    ("backend", "words"), [("tensorflow", "GPU (a; tensorflow, XLA)"), ("torch", "GPU (a; torch)")]
)
def test_what_compiles_for_a_gpu_is_named(backend, words, monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: backend)
    assert str(Devices(("a",))) == words


def test_memory_of_a_gpu_is_taken_as_it_is_needed_unless_the_user_says_otherwise(monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "tensorflow")
    monkeypatch.delenv("TF_FORCE_GPU_ALLOW_GROWTH", raising=False)
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "true")
    prepare_devices()
    assert os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "true"


def test_tensorflow_leaves_the_gpu_to_another_backend(monkeypatch):
    tf = pytest.importorskip("tensorflow")
    hidden = []
    monkeypatch.setattr(tf.config, "set_visible_devices", lambda *devices: hidden.append(devices))
    for backend in ("tensorflow", "jax"):
        monkeypatch.setattr(keras.backend, "backend", lambda backend=backend: backend)
        prepare_devices()
    assert hidden == [([], "GPU")]
