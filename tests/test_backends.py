"""The layers, models, losses and decoding on the other backends, each in a process of its own."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
CORE = ["tests/layers", "tests/models", "tests/training/test_losses.py", "tests/training/test_metrics.py",
        "tests/training/test_schedule.py", "tests/decoding"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_the_core_on_another_backend(backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    environment = {**os.environ, "KERAS_BACKEND": backend, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CORE]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=800)
    assert process.returncode == 0, process.stdout.decode()[-3000:]
