import os

import pytest

from keras_transformer.device import Devices, cores


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
    assert str(Devices(("a", "b"), (8, 0))).startswith("GPU (a, b; ")
