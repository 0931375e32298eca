"""Which devices Keras computes on."""

import collections
import contextlib
import dataclasses
import os
import sys

import keras


@dataclasses.dataclass(frozen=True)
class Devices:
    """The devices that Keras' backend computes on.

    Attributes:
        gpus: Names of the GPUs; none on a CPU.
        compute_capability: The lowest of theirs as (major, minor); (0, 0) if unknown or none.
    """

    gpus: tuple = ()
    compute_capability: tuple = (0, 0)

    def __str__(self):
        backend = keras.backend.backend()
        if self.gpus:
            compiler = "" if backend == "torch" else ", XLA"  # As Keras' `jit_compile="auto"` chooses.
            counts = collections.Counter(self.gpus).items()
            names = ", ".join(f"{count} × {name}" if count > 1 else name for name, count in counts)
            return f"GPU ({names}; {backend}{compiler})"
        return f"CPU ({cores()} cores; {backend})"


def cores():
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare_devices():
    """Lets the frameworks share a GPU with other programs and with each other; without effect once they compute on it.

    TensorFlow and JAX would take nearly all of its memory at their start. Beside another backend TensorFlow reads the
    data alone, and leaves the GPU to it.
    """
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if keras.backend.backend() == "tensorflow" or "tensorflow" not in sys.modules:
        return
    with contextlib.suppress(RuntimeError):  # It has begun to compute.
        sys.modules["tensorflow"].config.set_visible_devices([], "GPU")


def find_devices():
    """The `Devices` there are."""
    found = {"tensorflow": tensorflow_gpus, "jax": jax_gpus, "torch": torch_gpus}[keras.backend.backend()]()
    return Devices(tuple(name for name, _ in found), min((capability for _, capability in found), default=(0, 0)))


def tensorflow_gpus():
    """Names and compute capabilities of the GPUs that TensorFlow sees."""
    import tensorflow as tf

    devices = tf.config.list_physical_devices("GPU")
    details = [tf.config.experimental.get_device_details(device) for device in devices]
    return [(about.get("device_name", "GPU"), about.get("compute_capability", (0, 0))) for about in details]


def jax_gpus():
    """Names and compute capabilities of the GPUs that JAX sees."""
    import jax

    devices = [device for device in jax.devices() if device.platform == "gpu"]
    return [(device.device_kind, tuple(map(int, device.compute_capability.split(".")))) for device in devices]


def torch_gpus():
    """Names and compute capabilities of the GPUs that PyTorch sees."""
    import torch

    numbers = range(torch.cuda.device_count())
    return [(torch.cuda.get_device_name(i), torch.cuda.get_device_capability(i)) for i in numbers]
