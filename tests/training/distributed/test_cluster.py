import os
import signal
import subprocess
import sys
import time

import keras
import numpy as np
import pandas as pd
import pytest

from keras_transformer import InputError
from keras_transformer.backend.devices import Devices
from keras_transformer.training.distributed import cluster
from keras_transformer.training.distributed.cluster import count_devices, join_cluster

SETTINGS = {
    "preset": "small", "vocab-size": 300, "num-layers": 1, "d-model": 16, "num-heads": 2, "dff": 16, "dropout": 0.1,
    "batch-size": 20, "warmup-steps": 20, "max-length": 16, "precision": "float32", "patience": 0,
}  # fmt: skip


def seen(monkeypatch, backend, cpus=(), gpus=()):
    """What the backend of Keras is, and the devices that it sees."""
    monkeypatch.setattr(keras.backend, "backend", lambda: backend)
    monkeypatch.setattr(keras.distribution, "list_devices", lambda: gpus or cpus)
    monkeypatch.setattr(cluster, "find_devices", lambda: Devices(gpus))


def test_all_gpus_are_trained_on_unless_told_otherwise(monkeypatch):
    seen(monkeypatch, "jax", gpus=("gpu:0", "gpu:1", "gpu:2"))
    assert [count_devices(), count_devices(1), count_devices(2)] == [3, 1, 2]
    with pytest.raises(InputError, match="4 devices are not available: JAX finds 3"):
        count_devices(4)


def test_a_processor_is_one_device_unless_told_otherwise(monkeypatch):
    seen(monkeypatch, "jax", ["cpu:0", "cpu:1"])
    assert [count_devices(), count_devices(2)] == [1, 2]
    with pytest.raises(InputError, match="devices must be 1 or more, not 0"):
        count_devices(0)


@pytest.mark.parametrize("backend", ["tensorflow", "torch"])
def test_other_backends_train_on_one(monkeypatch, backend):
    seen(monkeypatch, backend, gpus=("gpu:0", "gpu:1"))
    assert [count_devices(), count_devices(1)] == [1, 1]
    with pytest.raises(InputError, match="training on 2 devices requires the JAX backend: set KERAS_BACKEND=jax"):
        count_devices(2)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distributed")
    pairs = pd.DataFrame(
        {"question": [f"질문 {i}" for i in range(120)], "answer": [f"대답 {i % 7}" for i in range(120)]}
    )
    pairs.to_csv(folder / "pairs.csv", index=False)
    return folder


def train_on(devices, corpus, run, *more):
    """Trains under JAX on so many of four processors that it takes for devices; returns the losses of each epoch."""
    environment = {
        **os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
    }  # fmt: skip
    command = [sys.executable, "-m", "keras_transformer", "train", "pairs.csv", "--run", run, "--devices", str(devices)]
    options = [f"--{name}={value}" for name, value in SETTINGS.items()]
    process = subprocess.run(
        [*command, *options, *more], cwd=corpus, env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr[-3000:]
    metrics = pd.read_csv(corpus / run / "metrics.csv")
    return metrics[["loss", "val_loss"]].to_numpy(), process.stderr


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_several_devices_train_as_one_and_one_goes_on_where_they_stopped(corpus):
    _, said = train_on(1, corpus, "one", "--epochs", "2")
    assert "on CPU" in said and "devices" not in said
    alone, _ = train_on(1, corpus, "one", "--epochs", "3")  # Further epochs change the moving average of the weights.
    assert alone[2, 0] < alone[0, 0] - 0.1  # Something was learned.
    shared, said = train_on(4, corpus, "four", "--epochs", "2")
    assert "on 4 devices: CPU" in said
    np.testing.assert_allclose(shared, alone[:2], rtol=1e-5)
    continued, _ = train_on(4, corpus, "four", "--epochs", "3", "--model-devices", "2")  # Its weights split in two.
    np.testing.assert_allclose(continued, alone, rtol=1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, 2, 0), "--processes and --process need --coordinator, the address of the first process"),
        (("a:1", None, 0), "--coordinator needs --processes and --process, the number of this process from 0 on"),
        (("a:1", 2, None), "--coordinator needs --processes and --process, the number of this process from 0 on"),
        (("a:1", 2, 2), "--process 2: must be at least 0 and below --processes 2"),
        (("a", 2, 1), "--coordinator a: must end with a port, as in 10.0.0.1:1234"),
        (("auto", 2, None), "--coordinator auto numbers the processes itself: leave out --processes and --process"),
    ],
)
def test_a_cluster_that_cannot_be_is_one_line(monkeypatch, given, message):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(InputError) as refused:
        join_cluster(*given)
    assert str(refused.value) == message
    monkeypatch.setattr(keras.backend, "backend", lambda: "torch")
    with pytest.raises(InputError, match="requires the JAX backend: set KERAS_BACKEND=jax"):
        join_cluster(*given)
    join_cluster()  # A process that trains alone meets nobody.


def begin(count, port, corpus, run, *more, program=("-m", "keras_transformer")):
    """Starts so many processes that train together and meet at a port; returns them."""
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, *program, "train", "pairs.csv", "--run", run]
    options = [f"--{name}={value}" for name, value in SETTINGS.items()]
    options += [*more, "--coordinator", f"127.0.0.1:{port}", "--processes", str(count)]
    return [
        subprocess.Popen(
            [*command, *options, "--process", str(number)], cwd=corpus, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )
        for number in range(count)
    ]  # fmt: skip


def outcomes(processes):
    """What each of some processes said, once all have ended well."""
    said = [process.communicate(timeout=1800)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), "\n".join(said)[-3000:]
    return said


def losses_of(run):
    return pd.read_csv(run / "metrics.csv")[["loss", "val_loss"]].to_numpy()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_several_processes_train_as_one(corpus, free_port):
    alone, _ = train_on(1, corpus, "alone", "--epochs", "3")
    first, *others = outcomes(begin(4, free_port(), corpus, "together", "--epochs", "3"))
    np.testing.assert_allclose(losses_of(corpus / "together"), alone, rtol=1e-5)
    assert "on 4 devices: CPU" in first and "\n  3/3  " in first
    assert all("  3/3  " not in said for said in others)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL here")
def test_a_process_that_is_killed_ends_the_others_and_all_go_on_from_the_checkpoint(corpus, free_port):
    epochs = ["--epochs", "40", "--schedule", "constant", "--learning-rate", "0.001"]  # Where rounding stays small.
    processes, run = begin(2, free_port(), corpus, "killed", *epochs), corpus / "killed"
    while not (run / "metrics.csv").exists():
        assert [process.poll() for process in processes] == [None, None]
        time.sleep(0.05)
    processes[1].kill()
    said = processes[0].communicate(timeout=600)[1]
    # Its connection breaks, or JAX has noticed first and ended it; either may still hear the other's last words.
    ours = "keras-transformer: failed: another process was lost ("
    assert {1: ours, -signal.SIGABRT: "detected fatal errors"}[processes[0].returncode] in said
    assert 1 <= len(losses_of(run)) < 40 and not (run / "summary.json").exists()
    processes[1].communicate()
    assert "Resuming at step" in outcomes(begin(2, free_port(), corpus, "killed", *epochs))[0]
    np.testing.assert_allclose(losses_of(run), train_on(1, corpus, "never killed", *epochs)[0], rtol=1e-4)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.name == "nt", reason="no SIGINT here")
def test_ctrl_c_in_the_first_process_ends_all_with_the_state_saved(corpus, free_port):
    processes, run = begin(2, free_port(), corpus, "stopped", "--epochs", "4000"), corpus / "stopped"
    while not (run / "metrics.csv").exists():
        assert [process.poll() for process in processes] == [None, None]
        time.sleep(0.05)
    processes[0].send_signal(signal.SIGINT)
    said = [process.communicate(timeout=600)[1] for process in processes]
    assert processes[0].returncode == 130 and processes[1].returncode not in (None, 0)
    assert said[0].endswith(f"Stopped and saved in {run.name}. Run the same command to resume.\n")
    assert not list(run.glob(".*.part"))


SOON = """
import sys
from keras_transformer.cli.main import main
from keras_transformer.training import distributed
distributed.HEARTBEAT = 20
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.name == "nt", reason="no SIGSTOP here")
@pytest.mark.parametrize("hung", [0, 1])
def test_a_process_that_hangs_ends_the_others(corpus, free_port, hung):
    run = corpus / f"hung {hung}"
    processes = begin(2, free_port(), corpus, run.name, "--epochs", "4000", program=("-c", SOON))
    while not (run / "metrics.csv").exists():
        assert [process.poll() for process in processes] == [None, None]
        time.sleep(0.05)
    processes[hung].send_signal(signal.SIGSTOP)
    processes[1 - hung].communicate(timeout=600)
    assert processes[1 - hung].returncode in (1, -signal.SIGABRT)
    assert processes[hung].poll() is None
    processes[hung].kill()
    processes[hung].communicate()
    assert len(losses_of(run)) >= 1 and not (run / "summary.json").exists()
