"""Data parallel training on several devices of one or more machines.

Each device computes its rows of every batch with the same weights. JAX compiles a single program that sums over the
rows of all devices. Batches and learning rate are therefore the same as on one device, and so are the losses, except
for the order of rounding.

With several machines, each runs one process of the same training. The processes connect to the first one, the
coordinator. Only the coordinator writes the run folder; the others read it, so all machines need access to it.
"""

import contextlib
import os
import re
import sys

import keras

from keras_transformer.backend.devices import find_devices
from keras_transformer.errors import InputError, ProcessLost
from keras_transformer.language import translate as _
from keras_transformer.training.distributed.sharding import split_over

AUTO = "auto"
COMMUNICATION_ERROR = re.compile("Gloo|NCCL")
HEARTBEAT = 60  # Seconds without a heartbeat after which JAX considers a process lost and ends the others.


def join_cluster(coordinator: str | None = None, processes: int | None = None, process: int | None = None) -> None:
    """Connects the processes of a distributed training; waits for them for at most five minutes.

    Call it before anything is computed.

    Args:
        coordinator: Address of the first process, "host:port". "auto" under SLURM or Open MPI, which provide all
            values. If all arguments are None, this process trains alone.
        processes: Number of processes.
        process: Number of this process, starting from 0.

    Raises:
        InputError: If the arguments are inconsistent, or the backend is not JAX.
    """
    if coordinator is processes is process is None:
        return
    check_cluster(coordinator, processes, process)
    import jax

    address = None if coordinator == AUTO else coordinator
    try:
        jax.distributed.initialize(address, processes, process, heartbeat_timeout_seconds=HEARTBEAT)
    except ValueError as error:
        raise InputError(_("--coordinator {coordinator}: {error}", coordinator=coordinator, error=error)) from error


def check_cluster(coordinator, processes, process):
    """Raises `InputError` if the arguments of `join_cluster` are invalid."""
    if keras.backend.backend() != "jax":
        raise InputError(_("training with several processes requires the JAX backend: set KERAS_BACKEND=jax"))
    if coordinator is None:
        raise InputError(_("--processes and --process need --coordinator, the address of the first process"))
    if coordinator == AUTO:
        if processes is not None or process is not None:
            raise InputError(_("--coordinator auto numbers the processes itself: leave out --processes and --process"))
        return
    if processes is None or process is None:
        raise InputError(_("--coordinator needs --processes and --process, the number of this process from 0 on"))
    if not 0 <= process < processes:
        raise InputError(
            _(
                "--process {process}: must be at least 0 and below --processes {processes}",
                process=process,
                processes=processes,
            )
        )
    if not coordinator.rpartition(":")[2].isdigit():
        raise InputError(
            _("--coordinator {coordinator}: must end with a port, as in 10.0.0.1:1234", coordinator=coordinator)
        )


def count_devices(requested=None):
    """Returns the number of devices that share each batch.

    Args:
        requested: The requested number. None for all GPUs that JAX finds, or one device. With several processes, all
            devices of all processes are used.

    Raises:
        InputError: If there are fewer devices, or the backend is not JAX.
    """
    jax = keras.backend.backend() == "jax"
    if jax and process_count() > 1:
        if requested is not None:
            raise InputError(_("several processes always use all their devices: leave out --devices"))
        return len(keras.distribution.list_devices())
    if requested is None:
        return max(1, len(find_devices().gpus)) if jax else 1
    if requested < 1:
        raise InputError(_("devices must be 1 or more, not {wanted}", wanted=requested))
    if requested > 1 and not jax:
        raise InputError(
            _("training on {wanted} devices requires the JAX backend: set KERAS_BACKEND=jax", wanted=requested)
        )
    if requested > 1 and requested > (available := len(keras.distribution.list_devices())):
        raise InputError(
            _("{wanted} devices are not available: JAX finds {available}", wanted=requested, available=available)
        )
    return requested


@contextlib.contextmanager
def distribution_scope(count, shards=1, vocab_size=None):
    """Context manager that distributes models and batches over several devices.

    Args:
        count: Number of devices.
        shards: Number of devices that share the large weights of one model; see `split_over`.
        vocab_size: Vocabulary size of the answers; needed if the weights are split.
    """
    if count == 1:
        yield
        return
    devices = keras.distribution.list_devices()[:count]
    if shards > 1:
        distribution = split_over(devices, shards, vocab_size)
    else:  # Each process provides only its own rows of a batch.
        distribution = keras.distribution.DataParallel(devices=devices, auto_shard_dataset=False)
    with distribution.scope():
        yield


def devices_in_use():
    """Returns the number of devices of the current distribution."""
    distribution = keras.distribution.distribution()
    return distribution.device_mesh.devices.size if distribution else 1


def process_count():
    """Returns the number of processes of the training."""
    if keras.backend.backend() != "jax":
        return 1
    import jax

    return jax.process_count()


def process_number():
    """Returns the number of this process; process 0 writes the run folder."""
    if keras.backend.backend() != "jax":
        return 0
    import jax

    return jax.process_index()


def wait_for_all(name):
    """Waits until all processes have called this function with the same name."""
    if process_count() == 1:
        return
    from jax.experimental import multihost_utils

    multihost_utils.sync_global_devices(name)


@contextlib.contextmanager
def detect_lost_processes():
    """Context manager that raises `ProcessLost` instead of JAX's errors when another process is lost."""
    if process_count() == 1:
        yield
        return
    import jax

    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        what = str(error).splitlines()[0]
        # Outside a training step, JAX raises the same message as a ValueError.
        if "RESOURCE_EXHAUSTED" in what or (isinstance(error, ValueError) and not COMMUNICATION_ERROR.search(what)):
            raise
        raise ProcessLost(
            _("another process was lost ({what}); run the same commands to resume from the last checkpoint", what=what)
        ) from error


def leave(status):
    """Exits immediately if there are several processes, as JAX would wait for the others; else returns the status."""
    if process_count() == 1:
        return status
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
