"""Training on a Ray cluster, as asked for: what can be refused is refused before anything is started."""

import importlib
import os
import socket

import keras

from keras_transformer.data.corpus import Corpus
from keras_transformer.errors import InputError


def train_on_ray(
    corpus,
    run_dir,
    config=None,
    from_run=None,
    tokenizer=None,
    target_tokenizer=None,
    workers=1,
    retries=3,
    gpus=None,
    settings=None,
):
    """Trains like `train`, under JAX, by workers that Ray Train places on a cluster.

    Each is a process that computes its rows of every batch; the first writes the run folder. If one is lost, Ray Train
    starts all of them anew, and they go on from the last checkpoint. All machines must see corpus and run folder under
    the same paths, and have this package.

    The cluster is the one that Ray is connected to, or that RAY_ADDRESS names, or that `ray start` began on this
    machine; if there is none, Ray is started on this machine for as long as the training takes.

    Args:
        corpus: As for `train`, like those that follow.
        run_dir: The run folder.
        config: The `Config`.
        from_run: Folder of a run to start from.
        tokenizer: File of a tokenizer.
        target_tokenizer: File of the answers' own tokenizer.
        workers: How many workers. Each is placed by one CPU of the cluster, and computes with all of its machine.
        retries: How often workers may fail before the training does.
        gpus: GPUs of each worker; None for one where the cluster has any.
        settings: Settings that go before those of `config`, as for `train`.

    Returns:
        What `train` returns.

    Raises:
        InputError: If the package ray is missing, the backend is not JAX, the cluster cannot be reached or has no room
            for so many workers; or as by `train`.
        WorkersLost: If workers failed more often than that; the same call goes on from the last checkpoint.
        DiskFull: As by `train`, and not tried again.
        TrainingDiverged: Likewise.
    """
    check_wanted(workers, retries, gpus)
    ray_workers = module()
    check_address(os.environ.get("RAY_ADDRESS", ""))
    asked = {
        "corpus": corpus if isinstance(corpus, Corpus) else Corpus(corpus), "run_dir": run_dir, "config": config,
        "from_run": from_run, "tokenizer": tokenizer, "target_tokenizer": target_tokenizer,
        "settings": settings,
    }  # fmt: skip
    with ray_workers.connected():
        gpus = check_room(ray_workers.machines(), workers, gpus)
        return ray_workers.fit(asked, workers, retries, gpus)


def check_wanted(workers, retries, gpus):
    """Raises `InputError` if these can be on no cluster."""
    if keras.backend.backend() != "jax":
        raise InputError("workers on Ray train together by JAX alone: set KERAS_BACKEND=jax")
    if workers < 1:
        raise InputError(f"workers on Ray must be 1 or more, not {workers}")
    if retries < 0:
        raise InputError(f"retries on Ray must be 0 or more, not {retries}")
    if gpus is not None and gpus < 0:
        raise InputError(f"GPUs of a worker on Ray must be 0 or more, not {gpus}")


def module():
    """The module that imports Ray; raises `InputError` if a package of the extra is missing."""
    try:
        return importlib.import_module("keras_transformer.training.distributed.ray_worker")
    except ImportError as error:
        what = f"training on Ray needs the package {error.name or 'ray'}, which is missing"
        raise InputError(f"{what}: pip install 'keras-transformer[ray]'") from error


def check_address(address):
    """Raises `InputError` if nothing answers at the address of a cluster, which Ray would try for minutes."""
    if "://" in address:
        raise InputError(f"RAY_ADDRESS {address}: must be that of the head node itself, as in 10.0.0.1:6379")
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        return  # A word, which Ray understands or refuses at once.
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise InputError(f"RAY_ADDRESS {address}: cannot be reached: {error.strerror or error}") from error


def check_room(machines, workers, gpus):
    """Refuses more workers than there is room for, for which Ray would wait.

    Args:
        machines: What each machine of the cluster has, dictionaries of numbers by "CPU" and "GPU".
        workers: How many workers are to be placed, with a CPU each.
        gpus: GPUs of each; None for one where there are any.

    Returns:
        GPUs of each.

    Raises:
        InputError: If they do not fit in.
    """
    if gpus is None:
        gpus = int(any(machine.get("GPU") for machine in machines))
    room = sum(places(machine, gpus) for machine in machines)
    if workers > room:
        cpus, all_gpus = (sum(machine.get(kind, 0) for machine in machines) for kind in ("CPU", "GPU"))
        wanted = "a CPU" + (f" and {gpus} GPU{'s' * (gpus > 1)}" if gpus else "")
        raise InputError(
            f"{workers} workers do not fit in: Ray has {cpus:g} CPUs and {all_gpus:g} GPUs on {len(machines)} "
            f"machine{'s' * (len(machines) > 1)}, room for {room} with {wanted} each"
        )
    return gpus


def places(machine, gpus):
    """How many workers find room on a machine."""
    cpus = int(machine.get("CPU", 0))
    return min(cpus, int(machine.get("GPU", 0) // gpus)) if gpus else cpus
