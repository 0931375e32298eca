"""Training on several devices, of one machine or of many: each computes its rows of every batch, with the same weights.

JAX makes one program of it, whose step is that of one device: sums over all rows, wherever they are. So the batch, the
learning rate and, but for the order in which sums are rounded, the losses stay what they are on one.

On several machines there is a process on each, which runs the same training. They meet at the first, the coordinator,
whose process alone writes the run folder; the others read it, so that all must see it.
"""

import contextlib
import os
import re
import sys

import keras

from keras_transformer.backend.devices import find_devices
from keras_transformer.errors import InputError, ProcessLost
from keras_transformer.training.distributed.sharding import split_over

AUTO = "auto"
BETWEEN_PROCESSES = re.compile("Gloo|NCCL")
HEARTBEAT = 60  # Seconds without a sign of life after which JAX gives a process up, and ends the others.


def join_cluster(coordinator=None, processes=None, process=None):
    """Meets the processes that train together, before anything is computed; waits for them for five minutes at most.

    Args:
        coordinator: Address of the first process, "host:port"; "auto" where SLURM or Open MPI started them, which know
            the rest; None, with the rest, if this process trains alone.
        processes: How many there are.
        process: The number of this one, from 0 on.

    Raises:
        InputError: If these do not fit together, or the backend is not JAX.
    """
    if coordinator is processes is process is None:
        return
    check_cluster(coordinator, processes, process)
    import jax

    address = None if coordinator == AUTO else coordinator
    try:
        jax.distributed.initialize(address, processes, process, heartbeat_timeout_seconds=HEARTBEAT)
    except ValueError as error:
        raise InputError(f"--coordinator {coordinator}: {error}") from error


def check_cluster(coordinator, processes, process):
    """Raises `InputError` if `join_cluster` cannot do with these."""
    if keras.backend.backend() != "jax":
        raise InputError("several processes train together by JAX alone: set KERAS_BACKEND=jax")
    if coordinator is None:
        raise InputError("--processes and --process need --coordinator, the address of the first")
    if coordinator == AUTO:
        if processes is not None or process is not None:
            raise InputError("with --coordinator auto, processes are not numbered by hand")
        return
    if processes is None or process is None:
        raise InputError("--coordinator needs --processes and --process, the number of this one from 0 on")
    if not 0 <= process < processes:
        raise InputError(f"--process {process}: {processes} processes are numbered from 0 on")
    if not coordinator.rpartition(":")[2].isdigit():
        raise InputError(f"--coordinator {coordinator}: must end with a port, as in 10.0.0.1:1234")


def count_devices(wanted=None):
    """How many devices share a batch out.

    Args:
        wanted: So many; None for all GPUs that JAX sees, or one; of all processes, if there are several.

    Raises:
        InputError: If there are not so many, or the backend is not JAX.
    """
    jax = keras.backend.backend() == "jax"
    if jax and process_count() > 1:
        if wanted is not None:
            raise InputError("all devices of all processes train together: leave out --devices")
        return len(keras.distribution.list_devices())
    if wanted is None:
        return max(1, len(find_devices().gpus)) if jax else 1
    if wanted < 1:
        raise InputError(f"devices must be 1 or more, not {wanted}")
    if wanted > 1 and not jax:
        raise InputError(f"{wanted} devices at once are trained on by JAX alone: set KERAS_BACKEND=jax")
    if wanted > 1 and wanted > (there := len(keras.distribution.list_devices())):
        raise InputError(f"{wanted} devices are not there: JAX sees {there}")
    return wanted


@contextlib.contextmanager
def distribution_scope(count, parts=1, vocab_size=None):
    """Within it, models are built on so many devices, and Keras shares out what they are trained on.

    Args:
        count: Devices.
        parts: So many of them split the weights of one model, as `split_over` does.
        vocab_size: Of the answers, if the weights are split.
    """
    if count == 1:
        yield
        return
    devices = keras.distribution.list_devices()[:count]
    if parts > 1:
        distribution = split_over(devices, parts, vocab_size)
    else:  # Each process lays out its own rows alone.
        distribution = keras.distribution.DataParallel(devices=devices, auto_shard_dataset=False)
    with distribution.scope():
        yield


def devices_in_use():
    """How many devices share out what is trained here."""
    distribution = keras.distribution.distribution()
    return distribution.device_mesh.devices.size if distribution else 1


def process_count():
    """How many processes train together."""
    if keras.backend.backend() != "jax":
        return 1
    import jax

    return jax.process_count()


def process_number():
    """Which of them this one is; 0 for the one that writes."""
    if keras.backend.backend() != "jax":
        return 0
    import jax

    return jax.process_index()


def wait_for_all(place):
    """Returns once all processes have come to the same place, which is named."""
    if process_count() == 1:
        return
    from jax.experimental import multihost_utils

    multihost_utils.sync_global_devices(place)


@contextlib.contextmanager
def detect_lost_processes():
    """Within it, what JAX raises when another process is gone is a `ProcessLost`."""
    if process_count() == 1:
        yield
        return
    import jax

    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        what = str(error).splitlines()[0]
        # What JAX gathers from all processes outside a step raises the same words as a ValueError.
        if "RESOURCE_EXHAUSTED" in what or (isinstance(error, ValueError) and not BETWEEN_PROCESSES.search(what)):
            raise
        raise ProcessLost(
            f"another process of the training was lost ({what}); the same commands go on from the last checkpoint"
        ) from error


def leave(status):
    """Ends one of several processes at once, as JAX would wait for the others; a lone one gets its status back."""
    if process_count() == 1:
        return status
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
