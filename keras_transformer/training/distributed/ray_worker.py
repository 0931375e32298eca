"""The workers of a training on Ray, which Ray Train starts, monitors and restarts.

Ray's controller imports this module too, so it only imports lightweight modules at the top.
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
from keras_transformer.errors import (
    DiskFull,
    InputError,
    ProcessLost,
    RunFolderLost,
    RunLocked,
    TrainingDiverged,
    WorkersLost,
)
from keras_transformer.language import current_language, language_in_use, use_language
from keras_transformer.language import translate as _

FINAL = (InputError, DiskFull, RunFolderLost, TrainingDiverged)
"""Errors that would occur again after a retry."""

PASSED_ON = ("JAX_", "KERAS_", "NCCL_", "PYTHONPATH", "TF_", "XLA_")
"""Prefixes of the environment variables that are passed on to the workers."""

QUIET = {
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",  # The workers do not use it, and it logs a warning about itself.
    "RAY_TRAIN_ENABLE_PRINT_PATCH": "0",  # Logs everything that is printed a second time.
    "RAY_TRAIN_ENABLE_WORKER_STRUCTURED_LOGGING": "0",  # Shows internal logs of other packages.
}


@contextlib.contextmanager
def connected():
    """Context manager that connects Ray to a cluster, or to a temporary one on this machine.

    An existing connection is kept.

    Raises:
        InputError: If the connection fails.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Disables telemetry of a Ray that is started here.
    try:
        with preserved_logging():
            ray.init(
                include_dashboard=False,
                # Without it, Ray prefixes every line of the workers with its origin.
                logging_config=ray.LoggingConfig(log_level="CRITICAL"),
                runtime_env={"env_vars": QUIET},
            )
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def preserved_logging():
    """Context manager that restores the logging of this process, which connecting Ray changes.

    Connection errors become an `InputError`.
    """
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
    """Returns the resources of each machine of the cluster."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def fit(train_args, workers, retries, gpus):
    """Trains with Ray workers; returns the result of the first one.

    Args:
        train_args: Dictionary of arguments for `train`.
        workers: Number of workers.
        retries: How often the workers may fail.
        gpus: GPUs per worker.
    """
    environment = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    with tempfile.TemporaryDirectory() as empty_folder:  # Unused by Ray: checkpoints are written to the run folder.
        trainer = JaxTrainer(
            partial(work, os.getcwd(), train_args, current_language()),
            jax_config=JaxConfig(),  # The default connects workers only on GPUs, and detects lost workers later.
            scaling_config=ScalingConfig(
                num_workers=workers,
                use_gpu=gpus > 0,
                resources_per_worker={"CPU": 1, **({"GPU": gpus} if gpus else {})},
                # GPUs of one machine have the fastest connection; CPU workers are faster on a machine of their own.
                placement_strategy="PACK" if gpus else "SPREAD",
            ),
            run_config=RunConfig(
                storage_path=empty_folder,
                failure_config=FailureConfig(max_failures=retries),
                callbacks=[Failures()],
                worker_runtime_env={"env_vars": {**environment, "KERAS_BACKEND": "jax", **QUIET}},
                logging_config=LoggingConfig("CRITICAL"),  # `Failures` prints the failures instead.
            ),
        )
        with keyboard_interrupt_on_ctrl_c(train_args["run_dir"]):
            try:
                return trainer.fit().return_value
            except (ControllerError, WorkerGroupError) as error:
                raise outcome(error, retries) from error


class Failures(UserCallback):
    """Prints which workers failed, and ends the training if a retry would fail again. Runs in Ray's controller."""

    def __init__(self):
        self.language = current_language()

    def after_exception(self, run_context, worker_exceptions):
        for error in worker_exceptions.values():
            if isinstance(error, FINAL) and not isinstance(error, RunLocked):  # A lost worker may still hold the lock.
                raise error
        with language_in_use(self.language):
            print(f"Ray Train: {describe_failures(worker_exceptions)}", flush=True)


def outcome(error, retries):
    """Returns the exception to raise instead of that of Ray Train."""
    if isinstance(error, ControllerError):
        cause = error.controller_failure
        return cause if isinstance(cause, FINAL) else WorkersLost(f"Ray Train: {first_line(cause)}")
    failures = error.worker_failures
    locked = next((failure for failure in failures.values() if isinstance(failure, InputError)), None)
    message = _(
        "{failures}, after {retries} retries; run the same command to resume from the last checkpoint",
        failures=describe_failures(failures),
        retries=retries,
    )
    return locked or WorkersLost(message)


def describe_failures(failures):
    """Returns a message that lists the failed workers; `failures` maps worker numbers to exceptions."""
    return ", ".join(describe_failure(number, failures[number]) for number in sorted(failures))


def describe_failure(number, error):
    """Returns what happened to a worker, from its number and its exception."""
    if isinstance(error, ProcessLost):
        return _("worker {number} lost the connection to another worker", number=number)
    if type(error).__module__.partition(".")[0] == "ray":  # Its process ended.
        return _("worker {number} was lost", number=number)
    return _(
        "worker {number} failed: {kind}: {reason}", number=number, kind=type(error).__name__, reason=first_line(error)
    )


def first_line(error):
    """Returns the first line of an exception's message."""
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextlib.contextmanager
def keyboard_interrupt_on_ctrl_c(run_dir):
    """Context manager that raises `KeyboardInterrupt` on Ctrl-C, where Ray Train would exit with status 0.

    It restores the signal handler, which Ray Train replaces.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        stopped = _("Stopped. Run the same command to resume from the last checkpoint in {run}.", run=run_dir)
        print(f"\n{stopped}")
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)


def work(folder, train_args, language):
    """Main function of a worker: connects to the other workers and trains.

    Args:
        folder: Working directory of the command, to resolve relative paths.
        train_args: Dictionary of arguments for `train`.
        language: Language of the messages, that of the command.

    Returns:
        The dictionary that `train` returns.
    """
    use_language(language)
    if pathlib.Path(folder).is_dir():
        os.chdir(folder)
    first = get_context().get_world_rank() == 0
    try:
        with contextlib.nullcontext() if first else silence():
            return train_together(train_args)
    except (*FINAL, ProcessLost):
        raise
    except Exception:
        traceback.print_exc()  # An unexpected error needs a full traceback.
        raise


def train_together(train_args):
    """Connects to the other workers, trains, and waits for them."""
    import_tensorflow_quietly()
    join_workers()
    import jax

    from keras_transformer.training.trainer import train

    summary = train(**train_args)
    jax.distributed.shutdown()  # Waits for all workers, so that none reports a finished one as lost.
    return summary


@contextlib.contextmanager
def silence():
    """Context manager that discards Python's output, because the first worker prints the same."""
    with (
        open(os.devnull, "w") as devnull,
        contextlib.redirect_stdout(devnull),
        contextlib.redirect_stderr(devnull),
    ):
        yield


def join_workers():
    """Connects all workers through a free port on the machine of the first one."""
    from keras_transformer.training.distributed.cluster import join_cluster

    number, count = get_context().get_world_rank(), get_context().get_world_size()
    with socket.socket() as reserved:
        address = None
        if number == 0:
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # As JAX does: reserves the port for JAX.
            reserved.bind(("", 0))
            address = f"{ray.util.get_node_ip_address()}:{reserved.getsockname()[1]}"
        join_cluster(broadcast_from_rank_zero(address), count, number)
