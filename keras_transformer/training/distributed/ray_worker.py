"""The workers of a training on Ray: started, watched and started anew by Ray Train; each trains as if begun by hand.

Ray's controller reads this module too, which only imports what is light.
"""

import contextlib
import logging
import os
import pathlib
import signal
import socket
import tempfile
import traceback
from functools import partial

import ray
from ray.train import (
    ControllerError,
    FailureConfig,
    LoggingConfig,
    RunConfig,
    ScalingConfig,
    UserCallback,
    WorkerGroupError,
    get_context,
)
from ray.train.collective import broadcast_from_rank_zero
from ray.train.v2.jax import JaxConfig, JaxTrainer

from keras_transformer.backend.tensorflow_import import import_tensorflow_quietly
from keras_transformer.errors import DiskFull, InputError, ProcessLost, RunLocked, TrainingDiverged, WorkersLost

FINAL = (InputError, DiskFull, TrainingDiverged)
"""What another try would only meet again."""

CARRIED = ("JAX_", "KERAS_", "NCCL_", "PYTHONPATH", "TF_", "XLA_")
"""Beginnings of the names of environment variables that the workers get too."""

QUIET = {
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",  # Warns workers, which have no use for it, and us of itself.
    "RAY_TRAIN_ENABLE_PRINT_PATCH": "0",  # Logs what is printed, once more.
    "RAY_TRAIN_ENABLE_WORKER_STRUCTURED_LOGGING": "0",  # Shows what other packages log for nobody to see.
}


@contextlib.contextmanager
def connected():
    """Within it, Ray is connected to a cluster, or to one of its own on this machine, which ends with it.

    A connection that was there is left as it is.

    Raises:
        InputError: If the cluster does not let us in.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Of a Ray that is ours, nothing is told to anybody.
    try:
        with our_logging_kept():
            ray.init(
                include_dashboard=False,
                # Without one, every line of the workers begins with where it is from.
                logging_config=ray.LoggingConfig(log_level="CRITICAL"),
                runtime_env={"env_vars": QUIET},
            )
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def our_logging_kept():
    """Within it, Ray may connect; what it sets for the logs of its workers does not stay set in this process."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(f"Ray: {first_line(error)}") from error
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def machines():
    """What each machine of the cluster has."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def fit(asked, workers, retries, gpus):
    """Trains by so many workers; returns what the first returns.

    Args:
        asked: The arguments of `train`.
        workers: How many.
        retries: How often they may fail.
        gpus: GPUs of each.
    """
    environment = {name: value for name, value in os.environ.items() if name.startswith(CARRIED)}
    with tempfile.TemporaryDirectory() as nothing:  # For checkpoints that Ray knows of: ours are in the run folder.
        trainer = JaxTrainer(
            partial(work, os.getcwd(), asked),
            jax_config=JaxConfig(),  # By itself it would have them meet on GPUs alone, and notice losses later.
            scaling_config=ScalingConfig(
                num_workers=workers,
                use_gpu=gpus > 0,
                resources_per_worker={"CPU": 1, **({"GPU": gpus} if gpus else {})},
                # GPUs of one machine are near each other; processors are better shared with nobody.
                placement_strategy="PACK" if gpus else "SPREAD",
            ),
            run_config=RunConfig(
                storage_path=nothing,
                failure_config=FailureConfig(max_failures=retries),
                callbacks=[Failures()],
                worker_runtime_env={"env_vars": {**environment, "KERAS_BACKEND": "jax", **QUIET}},
                logging_config=LoggingConfig("CRITICAL"),  # `Failures` says what is to be said.
            ),
        )
        with ctrl_c_as_ever(asked["run_dir"]):
            try:
                return trainer.fit().return_value
            except (ControllerError, WorkerGroupError) as error:
                raise outcome(error, retries) from error


class Failures(UserCallback):
    """Tells which workers failed, and ends the training where another try would be in vain; asked by the controller."""

    def after_exception(self, run_context, worker_exceptions):
        for error in worker_exceptions.values():
            if isinstance(error, FINAL) and not isinstance(error, RunLocked):  # A lost worker may hold it for a while.
                raise error
        print(f"Ray Train: {in_words(worker_exceptions)}", flush=True)


def outcome(error, retries):
    """The exception to be raised for the one by which Ray Train ended."""
    if isinstance(error, ControllerError):
        why = error.controller_failure
        return why if isinstance(why, FINAL) else WorkersLost(f"Ray Train: {first_line(why)}")
    failures = error.worker_failures
    again = f"after {retries} retries; the same command goes on from the last checkpoint"
    locked = next((failure for failure in failures.values() if isinstance(failure, InputError)), None)
    return locked or WorkersLost(f"{in_words(failures)}, {again}")


def in_words(failures):
    """Which workers failed, and how: exceptions by number."""
    return ", ".join(f"worker {number} {how_it_failed(failures[number])}" for number in sorted(failures))


def how_it_failed(error):
    """The end of a sentence on a worker's exception."""
    if isinstance(error, ProcessLost):
        return "lost touch with another"
    if type(error).__module__.partition(".")[0] == "ray":  # Its process is gone.
        return "was lost"
    return f"failed: {type(error).__name__}: {first_line(error)}"


def first_line(error):
    """What an exception says, in one line."""
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextlib.contextmanager
def ctrl_c_as_ever(run_dir):
    """Ends with `KeyboardInterrupt` by Ctrl-C, for which Ray Train exits with 0, and gives signals back after it."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        print(f"\nStopped. The same command goes on from the last checkpoint in {run_dir}.")
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)


def work(folder, asked):
    """What each worker does: it meets the others, and trains with them.

    Args:
        folder: Where the command was typed, from which paths are meant.
        asked: The arguments of `train`.

    Returns:
        What `train` returns.
    """
    if pathlib.Path(folder).is_dir():
        os.chdir(folder)
    first = get_context().get_world_rank() == 0
    try:
        with contextlib.nullcontext() if first else silence():
            return train_together(asked)
    except (*FINAL, ProcessLost):
        raise
    except Exception:
        traceback.print_exc()  # What nobody has thought of is more than one line can tell.
        raise


def train_together(asked):
    """Meets the other workers, trains, and waits for them."""
    import_tensorflow_quietly()
    meet()
    import jax

    from keras_transformer.training.trainer import train

    summary = train(**asked)
    jax.distributed.shutdown()  # Waits for all, so that none takes another's end for a loss.
    return summary


@contextlib.contextmanager
def silence():
    """Within it, nothing that Python prints is shown; the first worker prints the same."""
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def meet():
    """Joins all workers, at a port of the first one's machine that is free."""
    from keras_transformer.training.distributed.cluster import join_cluster

    number, count = get_context().get_world_rank(), get_context().get_world_size()
    with socket.socket() as held:
        address = None
        if number == 0:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # As JAX does; so none takes it before JAX.
            held.bind(("", 0))
            address = f"{ray.util.get_node_ip_address()}:{held.getsockname()[1]}"
        join_cluster(broadcast_from_rank_zero(address), count, number)
