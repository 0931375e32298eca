import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import types

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

from keras_transformer.errors import DiskFull, InputError, ProcessLost, RunLocked, TrainingDiverged, WorkersLost
from keras_transformer.language import current_language, language_in_use
from keras_transformer.runs.run import Run

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="no ray here"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
EPOCHS = 20
SETTINGS = {
    "vocab_size": 300, "num_layers": 1, "d_model": 16, "num_heads": 2, "dff": 16, "dropout": 0.1, "batch_size": 20,
    "max_length": 16, "precision": "float32", "patience": 0,
    "schedule": "constant", "learning_rate": 0.001,  # Where rounding stays small.
}  # fmt: skip
CLUSTER = """
import sys, ray
print(ray.init("local", num_cpus=2, num_gpus=0, include_dashboard=False).address_info["gcs_address"], flush=True)
sys.stdin.read()  # Until the tests end, however they end.
"""
CALLS = """
import json, sys
from keras_transformer import Config, InputError, train_on_ray

config = Config(**json.loads(sys.argv[1]))
for corpus, workers in (("pairs.csv", 3), ("pairs.csv", 2), ("others.csv", 2)):
    try:
        print("trained:", train_on_ray(corpus, "called", config, workers=workers)["epochs"])
    except InputError as error:
        print("refused:", error)
"""


def ray_workers():
    return pytest.importorskip("keras_transformer.training.distributed.ray_worker")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("on_ray")
    for name, count in (("pairs", 120), ("others", 130)):
        pairs = {"question": [f"질문 {i}" for i in range(count)], "answer": [f"대답 {i % 7}" for i in range(count)]}
        pd.DataFrame(pairs).to_csv(folder / f"{name}.csv", index=False)
    return folder


@contextlib.contextmanager
def marked_environment():
    """That of processes that use a Ray here; none is left. The Ray's folder, whose name must be short, marks them."""
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as marked:
        try:
            yield {
                **os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "RAY_TMPDIR": marked,
                "RAY_ADDRESS": "local",  # One of its own.
                "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(),  # Or one is kept in the home folder.
            }  # fmt: skip
        finally:
            for pid in processes(marked):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@pytest.fixture
def environment():
    with marked_environment() as variables:
        yield variables


@pytest.fixture(scope="module")
def cluster():
    """The environment of processes that use a Ray that is there."""
    command = [sys.executable, "-c", CLUSTER]
    with (
        marked_environment() as variables,
        subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ray,
    ):
        address = ray.stdout.readline().strip()
        assert address
        yield {**variables, "RAY_ADDRESS": address}
        ray.kill()


def processes(marked, name=""):
    """Numbers of the processes that a folder of Ray marks, of those whose command line has a name in it."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            ours = f"RAY_TMPDIR={marked}\0".encode() in path.joinpath("environ").read_bytes()
            if ours and name.encode() in path.joinpath("cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:
            continue  # It has ended, or is another's.
    return found


def begin(folder, environment, run, *more):
    """Starts the command line's training, on a terminal of its own as far as Ctrl-C goes."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    command = [sys.executable, "-m", "keras_transformer", "train", "pairs.csv", "--run", run, *options, *more]
    command += ["--preset", "small"]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def end_of(process):
    """Its status, and what it said on standard error; on standard output it says nothing."""
    out, said = process.communicate(timeout=600)
    assert not out, out
    return process.returncode, said


def wait_for(condition, process):
    while not condition():
        assert process.poll() is None, process.communicate()[1][-3000:]
        time.sleep(0.05)


def wait_until(condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def writer(run):
    """The number of the process that writes to a run folder."""
    return int((run / "lock").read_text())


def losses_of(run):
    return pd.read_csv(run / "metrics.csv")[["loss", "val_loss"]].to_numpy()


@pytest.fixture(scope="module")
def alone(folder, cluster):
    """The run of one process without Ray."""
    status, said = end_of(begin(folder, cluster, "alone", "--epochs", str(EPOCHS)))
    assert status == 0, said[-3000:]
    return folder / "alone"


def test_what_another_try_would_meet_again_ends_the_training():
    failures = ray_workers().Failures()
    for final in (InputError("no"), DiskFull(28, "disk full"), TrainingDiverged("nan")):
        with pytest.raises(type(final), match=str(final.args[-1])):
            failures.after_exception(None, {0: ProcessLost("gone"), 1: final})


def test_what_may_pass_is_told_and_tried_again(capsys):
    ray = ray_workers().ray
    failures = {
        2: ProcessLost("gone"), 0: ray.exceptions.ActorDiedError(), 1: RunLocked("run: locked"), 3: KeyError("a\nb"),
    }  # fmt: skip
    ray_workers().Failures().after_exception(None, failures)
    assert capsys.readouterr().out == (
        "Ray Train: worker 0 was lost, worker 1 failed: RunLocked: run: locked, "
        "worker 2 lost the connection to another worker, "
        "worker 3 failed: KeyError: 'a\\nb'\n"
    )


def test_workers_and_controller_speak_the_language_of_the_command(tmp_path, monkeypatch, capsys):
    workers, languages = ray_workers(), []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workers, "get_context", lambda: types.SimpleNamespace(get_world_rank=lambda: 0))
    monkeypatch.setattr(workers, "train_together", lambda train_args: languages.append(current_language()))
    with language_in_use("ko"):
        failures = workers.Failures()
    with language_in_use("en"):
        workers.work(str(tmp_path), {}, "ko")
    assert languages == ["ko"]
    assert current_language() == "en"
    failures.after_exception(None, {0: ProcessLost("gone")})
    assert capsys.readouterr().out == "Ray Train: 워커 0: 다른 워커와 연결이 끊겼습니다\n"


def test_how_a_training_ends_that_ray_train_gives_up():
    workers = ray_workers()
    diverged = TrainingDiverged("nan")
    assert workers.outcome(workers.ControllerError(diverged), 3) is diverged
    [broken, lost, locked] = [
        workers.outcome(error, 3)
        for error in (
            workers.ControllerError(RuntimeError("a\nb")),
            workers.WorkerGroupError("", {1: workers.ray.exceptions.ActorDiedError()}),
            workers.WorkerGroupError("", {0: RunLocked("run: locked"), 1: ProcessLost("gone")}),
        )
    ]
    assert type(broken) is WorkersLost and str(broken) == "Ray Train: a"
    assert type(lost) is WorkersLost
    assert str(lost) == "worker 1 was lost, after 3 retries; run the same command to resume from the last checkpoint"
    assert type(locked) is RunLocked


@pytest.mark.parametrize(
    ("gpus", "resources", "placement"), [(0, {"CPU": 1}, "SPREAD"), (2, {"CPU": 1, "GPU": 2}, "PACK")]
)
def test_what_ray_train_is_told(monkeypatch, gpus, resources, placement):
    told = {}

    class Trainer:
        def __init__(self, work, **settings):
            told.update(settings)

        def fit(self):
            return argparse.Namespace(return_value="the summary")

    workers = ray_workers()
    monkeypatch.setattr(workers, "JaxTrainer", Trainer)
    monkeypatch.setenv("KERAS_TRANSFORMER_DATA", "/shared/data")
    monkeypatch.setenv("SECRET", "42")
    assert workers.fit({"run_dir": "run"}, 3, 5, gpus) == "the summary"
    scaling, run = told["scaling_config"], told["run_config"]
    assert (scaling.num_workers, scaling.use_gpu, scaling.resources_per_worker) == (3, gpus > 0, resources)
    assert scaling.placement_strategy == placement
    assert run.failure_config.max_failures == 5
    variables = run.worker_runtime_env["env_vars"]
    assert (variables["KERAS_BACKEND"], variables["KERAS_TRANSFORMER_DATA"]) == ("jax", "/shared/data")
    assert "SECRET" not in variables


@pytest.mark.slow
def test_workers_train_as_one_process_and_what_cannot_be_is_refused(folder, cluster, alone):
    config = json.dumps({**SETTINGS, "epochs": EPOCHS, "warmup_steps": Run(alone).config.warmup_steps})
    done = subprocess.run(
        [sys.executable, "-c", CALLS, config], cwd=folder, env=cluster, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    refused, *shown, last = [line for line in done.stdout.splitlines() if "Gloo" not in line]
    assert refused == (
        "refused: 3 workers do not fit in: Ray has 2 CPUs and 0 GPUs on 1 machine, room for 2 with a CPU each"
    )
    assert last.startswith("refused: called: was trained on another corpus, or this one has changed (120 pairs ")
    epochs = [f"{number}/{EPOCHS}" for number in range(1, EPOCHS + 1)]
    begun = [
        words[0]
        for line in shown
        if (words := line.split()) and words[0] in ("Training", "epoch", *epochs, "Done", "trained:")
    ]
    assert begun == ["Training", "epoch", *epochs, "Done", "trained:"]
    assert "Training called on 2 devices: CPU" in done.stdout
    assert not any(line.startswith("Ray Train:") for line in shown)  # Nothing was tried again.
    np.testing.assert_allclose(losses_of(folder / "called"), losses_of(alone), rtol=1e-4)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_made_good(folder, cluster, alone):
    run = folder / "killed"
    process = begin(folder, cluster, run.name, "--epochs", str(EPOCHS), "--ray-workers", "2", "--ray-gpus", "0")
    wait_for((run / "metrics.csv").exists, process)
    os.kill(writer(run), signal.SIGKILL)  # The first, where the others meet.
    status, said = end_of(process)
    assert status == 0, said[-3000:]
    assert "Ray Train: worker 0 was lost" in said
    assert "Resuming at step" in said
    np.testing.assert_allclose(losses_of(run), losses_of(alone), rtol=1e-4)
    weights, expected = load_file(run / "weights.safetensors"), load_file(alone / "weights.safetensors")
    assert weights.keys() == expected.keys()
    for name, value in weights.items():
        if not name.endswith("key/bias"):  # Which changes nothing: mere rounding moves it.
            np.testing.assert_allclose(value, expected[name], atol=5e-3)


@pytest.mark.slow
def test_ctrl_c_leaves_a_ray_that_was_there_and_the_same_command_goes_on_until_retries_are_used_up(
    folder, cluster, environment
):
    run, common = folder / "stopped", ["stopped", "--epochs", "4000", "--ray-workers", "2"]
    process = begin(folder, cluster, *common)
    wait_for((run / "metrics.csv").exists, process)
    os.killpg(process.pid, signal.SIGINT)  # As a terminal does.
    status, said = end_of(process)
    assert status == 130
    assert said.endswith("\nStopped. Run the same command to resume from the last checkpoint in stopped.\n\n")
    wait_until(lambda: not processes(cluster["RAY_TMPDIR"], "Train"))
    assert processes(cluster["RAY_TMPDIR"], "raylet")

    before = len(losses_of(run))
    process = begin(folder, environment, *common, "--ray-retries", "0")
    wait_for(lambda: len(losses_of(run)) > before, process)
    [other] = set(processes(environment["RAY_TMPDIR"], "RayTrainWorker")) - {writer(run)}
    os.kill(other, signal.SIGKILL)
    status, said = end_of(process)
    assert status == 1 and "Resuming at step" in said
    last = said.splitlines()[-1]
    assert last.startswith("keras-transformer: failed: ") and "worker 1 was lost" in last
    assert last.endswith(", after 0 retries; run the same command to resume from the last checkpoint")
    wait_until(lambda: not processes(environment["RAY_TMPDIR"]))
