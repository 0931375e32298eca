"""Detection and setup of the devices that Keras computes on."""

import collections
import contextlib
import dataclasses
import os
import sys

import keras

from keras_transformer.language import translate_count


@dataclasses.dataclass(frozen=True)
class Devices:
    """The devices that the Keras backend computes on.

    Attributes:
        gpus: Names of the GPUs. Empty on a CPU.
        compute_capability: The lowest compute capability of the GPUs as (major, minor). (0, 0) if unknown or no GPU.
    """

    gpus: tuple = ()
    compute_capability: tuple = (0, 0)

    def __str__(self):
        backend = keras.backend.backend()
        if self.gpus:
            compiler = "" if backend == "torch" else ", XLA"  # As with `jit_compile="auto"` in Keras.
            counts = collections.Counter(self.gpus).items()
            names = ", ".join(f"{count} × {name}" if count > 1 else name for name, count in counts)
            return f"GPU ({names}; {backend}{compiler})"
        return translate_count(
            "CPU ({count} core; {backend})", "CPU ({count} cores; {backend})", cores(), backend=backend
        )


def cores():
    """Returns the number of CPU cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare_devices():
    """Configures the frameworks to share the GPU with other programs and with each other.

    TensorFlow and JAX would otherwise allocate nearly all GPU memory at startup. With another backend, TensorFlow only
    runs the data pipeline, so the GPU is hidden from it. Has no effect after a framework has initialized the GPU.
    """
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if keras.backend.backend() == "tensorflow" or "tensorflow" not in sys.modules:
        return
    with contextlib.suppress(RuntimeError):  # TensorFlow has already initialized its devices.
        sys.modules["tensorflow"].config.set_visible_devices([], "GPU")


def find_devices():
    """Returns the `Devices` of the current backend."""
    gpus = {"tensorflow": tensorflow_gpus, "jax": jax_gpus, "torch": torch_gpus}[keras.backend.backend()]()
    return Devices(tuple(name for name, _ in gpus), min((capability for _, capability in gpus), default=(0, 0)))


def tensorflow_gpus():
    """Returns the names and compute capabilities of the GPUs visible to TensorFlow."""
    import tensorflow as tf

    devices = tf.config.list_physical_devices("GPU")
    details = [tf.config.experimental.get_device_details(device) for device in devices]
    return [(about.get("device_name", "GPU"), about.get("compute_capability", (0, 0))) for about in details]


def jax_gpus():
    """Returns the names and compute capabilities of the GPUs visible to JAX."""
    import jax

    devices = [device for device in jax.devices() if device.platform == "gpu"]
    return [(device.device_kind, tuple(map(int, device.compute_capability.split(".")))) for device in devices]


def torch_gpus():
    """Returns the names and compute capabilities of the GPUs visible to PyTorch."""
    import torch

    numbers = range(torch.cuda.device_count())
    return [(torch.cuda.get_device_name(i), torch.cuda.get_device_capability(i)) for i in numbers]
