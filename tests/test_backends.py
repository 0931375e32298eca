"""The other backends, each in a process of its own."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from keras_transformer import export_saved_model

ROOT = pathlib.Path(__file__).parents[1]
CORE = ["tests/layers", "tests/models", "tests/training/test_losses.py", "tests/training/test_metrics.py",
        "tests/training/test_schedule.py", "tests/decoding"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_the_core_on_another_backend(backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    environment = {**os.environ, "KERAS_BACKEND": backend, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CORE]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=3500)
    assert process.returncode == 0, process.stdout.decode()[-3000:]


SETTINGS = {
    "vocab_size": 300, "num_layers": 1, "d_model": 16, "num_heads": 2, "dff": 16, "dropout": 0.0, "batch_size": 16,
    "epochs": 2, "patience": 0, "warmup_steps": 20, "max_length": 16, "precision": "float32", "seed": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A folder with a corpus."""
    folder = tmp_path_factory.mktemp("backends")
    pairs = pd.DataFrame(
        {"question": [f"질문 {i}" for i in range(120)], "answer": [f"대답 {i % 7}" for i in range(120)]}
    )
    pairs.to_csv(folder / "pairs.csv", index=False)
    return folder


def train_on(backend, corpus, run, *more):
    """Trains by the command line on a backend; returns the run's losses, two of each epoch."""
    environment = {**os.environ, "KERAS_BACKEND": backend, "JAX_PLATFORMS": "cpu"}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    command = [sys.executable, "-m", "keras_transformer", "train", "pairs.csv", "--run", run, *options, *more]
    command += ["--preset", "small"]
    process = subprocess.run(command, cwd=corpus, env=environment, capture_output=True, check=False)
    assert process.returncode == 0, process.stderr.decode()[-3000:]
    metrics = pd.read_csv(corpus / run / "metrics.csv")
    return metrics[["loss", "val_loss"]].to_numpy()


@pytest.fixture(scope="module")
def losses(corpus):
    """Those of TensorFlow, in three epochs, of which the last was not planned: it changes the moving average."""
    train_on("tensorflow", corpus, "tensorflow")
    return train_on("tensorflow", corpus, "tensorflow", "--epochs", "3")


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_seed_gives_the_same_losses_on_another_backend_and_its_training_goes_on_on_tensorflow(
    backend, corpus, losses
):
    """Without dropout, whose masks are each backend's own; all else follows from the seed."""
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    np.testing.assert_allclose(train_on(backend, corpus, backend), losses[:2], rtol=1e-4)
    np.testing.assert_allclose(train_on("tensorflow", corpus, backend, "--epochs", "3"), losses, rtol=1e-4)
    assert losses[2, 0] < losses[0, 0] - 0.1  # Something was learned.
    export_saved_model(corpus / backend, corpus / f"{backend}_saved")  # Which compares its answers with the run's.
