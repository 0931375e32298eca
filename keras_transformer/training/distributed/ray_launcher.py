"""Training on a Ray cluster: checks all arguments before anything is started."""

import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import pandas

from keras_transformer.config import Config
from keras_transformer.data.corpus import Corpus
from keras_transformer.errors import InputError, import_extra
from keras_transformer.language import translate as _
from keras_transformer.language import translate_count


def train_on_ray(
    corpus: pandas.DataFrame | Corpus | str | os.PathLike | Sequence[str | os.PathLike],
    run_dir: str | os.PathLike,
    config: Config | None = None,
    from_run: str | os.PathLike | None = None,
    tokenizer: str | os.PathLike | None = None,
    target_tokenizer: str | os.PathLike | None = None,
    workers: int = 1,
    retries: int = 3,
    gpus: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Trains like `train`, under JAX, with workers that Ray Train places on a cluster.

    Each worker is a process that computes its rows of every batch; the first one writes the run folder. If a worker is
    lost, Ray Train restarts all of them, and they resume from the last checkpoint. All machines need this package, and
    access to the corpus and the run folder under the same paths.

    The cluster is the one that Ray is already connected to, the one at RAY_ADDRESS, or the one started by `ray start`
    on this machine. Otherwise Ray is started on this machine for the duration of the training.

    Args:
        corpus: The corpus, as for `train`.
        run_dir: The run folder, as for `train`.
        config: The `Config`, as for `train`.
        from_run: Folder of a run to fine-tune, as for `train`.
        tokenizer: File of a tokenizer, as for `train`.
        target_tokenizer: File of a separate tokenizer for the answers, as for `train`.
        workers: Number of workers. Ray reserves one CPU for each, but a worker uses all CPUs of its machine.
        retries: How often workers may fail before the training fails.
        gpus: GPUs per worker; None for one if the cluster has any.
        settings: Dictionary of `Config` settings that override those of `config`, as for `train`.

    Returns:
        The dictionary that `train` returns.

    Raises:
        InputError: If the package ray is missing, the backend is not JAX, the cluster cannot be reached or has too few
            resources; or as in `train`.
        WorkersLost: If the workers failed more than `retries` times. Call the function again to resume from the last
            checkpoint.
        DiskFull: As in `train`; not retried.
        TrainingDiverged: As in `train`; not retried.
    """
    check_options(workers, retries, gpus)
    ray_worker = import_ray_worker()
    check_address(os.environ.get("RAY_ADDRESS", ""))
    train_args = {
        "corpus": corpus if isinstance(corpus, Corpus) else Corpus(corpus), "run_dir": run_dir, "config": config,
        "from_run": from_run, "tokenizer": tokenizer, "target_tokenizer": target_tokenizer,
        "settings": settings,
    }  # fmt: skip
    with ray_worker.connected():
        gpus = check_room(ray_worker.machines(), workers, gpus)
        return ray_worker.fit(train_args, workers, retries, gpus)


def check_options(workers, retries, gpus):
    """Raises `InputError` if the options are invalid on any cluster."""
    if keras.backend.backend() != "jax":
        raise InputError(_("training on Ray requires the JAX backend: set KERAS_BACKEND=jax"))
    if workers < 1:
        raise InputError(_("workers on Ray must be 1 or more, not {workers}", workers=workers))
    if retries < 0:
        raise InputError(_("retries on Ray must be 0 or more, not {retries}", retries=retries))
    if gpus is not None and gpus < 0:
        raise InputError(_("GPUs of a worker on Ray must be 0 or more, not {gpus}", gpus=gpus))


def import_ray_worker():
    """Returns the module that imports Ray; raises `InputError` if the package of the extra [ray] is missing."""
    for module in ("ray", "ray.train"):
        import_extra(module, "ray", "training on Ray")
    from keras_transformer.training.distributed import ray_worker

    return ray_worker


def check_address(address):
    """Raises `InputError` if a cluster's address cannot be reached; Ray itself would retry for minutes."""
    if "://" in address:
        raise InputError(
            _("RAY_ADDRESS {address}: must be the address of the head node, as in 10.0.0.1:6379", address=address)
        )
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        return  # A keyword, which Ray accepts or rejects immediately.
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise InputError(
            _("RAY_ADDRESS {address}: cannot be reached: {reason}", address=address, reason=error.strerror or error)
        ) from error


def check_room(machines, workers, gpus):
    """Checks that the cluster has resources for all workers; Ray itself would wait for them.

    Args:
        machines: Resources of each machine, dictionaries of numbers by "CPU" and "GPU".
        workers: Number of workers, each with one CPU.
        gpus: GPUs per worker; None for one if the cluster has any.

    Returns:
        The number of GPUs per worker.

    Raises:
        InputError: If the resources are not sufficient.
    """
    if gpus is None:
        gpus = int(any(machine.get("GPU") for machine in machines))
    room = sum(worker_capacity(machine, gpus) for machine in machines)
    if workers > room:
        cpus, all_gpus = (sum(machine.get(kind, 0) for machine in machines) for kind in ("CPU", "GPU"))
        wanted = _("a CPU")
        if gpus:
            wanted = translate_count("a CPU and {count} GPU", "a CPU and {count} GPUs", gpus)
        raise InputError(
            _(
                "{workers} workers do not fit in: Ray has {cpus:g} CPUs and {all_gpus:g} GPUs on {machines}, room for "
                "{room} with {wanted} each",
                workers=workers,
                cpus=cpus,
                all_gpus=all_gpus,
                machines=translate_count("{count} machine", "{count} machines", len(machines)),
                room=room,
                wanted=wanted,
            )
        )
    return gpus


def worker_capacity(machine, gpus):
    """Returns the number of workers that a machine has resources for."""
    cpus = int(machine.get("CPU", 0))
    return min(cpus, int(machine.get("GPU", 0) // gpus)) if gpus else cpus
