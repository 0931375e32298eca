"""Explains why an NVIDIA GPU is not used, and how to fix it.

The frameworks fall back to the CPU silently, or with a message that is easy to miss.
"""

import dataclasses
import importlib.util
import os
import pathlib
import re
import shutil

import keras

from keras_transformer.language import translate as _

NVIDIA, DISPLAY = "0x10de", "0x03"  # PCI vendor id, and the first byte of the PCI class of display controllers.
OLDEST_DRIVER = 525  # Oldest driver that supports CUDA 12.


@dataclasses.dataclass(frozen=True)
class Framework:
    """What a Keras backend needs to use a GPU.

    Attributes:
        name: Display name.
        package: Name of the pip package with GPU support.
        module: Module that exists only if this package is installed with GPU support.
    """

    name: str
    package: str
    module: str


FRAMEWORKS = {
    "tensorflow": Framework("TensorFlow", "tensorflow[and-cuda]", "nvidia.cudnn"),
    "jax": Framework("JAX", "jax[cuda12]", "jax_cuda12_plugin"),
    "torch": Framework("PyTorch", "torch", "nvidia.cudnn"),
}


def explain_unseen_gpu(root="/"):
    """Explains why the Keras backend, which found no GPU, does not see this machine's NVIDIA GPU.

    Args:
        root: Root folder of the system files.

    Returns:
        A one-line message, or None if the machine has no NVIDIA GPU.
    """
    framework, root = FRAMEWORKS[keras.backend.backend()], pathlib.Path(root)
    if os.name == "nt":
        return explain_under_windows(framework)
    under_wsl = (root / "usr/lib/wsl/lib/libcuda.so.1").exists()
    if not under_wsl and not has_nvidia_gpu(root):
        return None
    driver = None if under_wsl else broken_driver(root)
    return sentence(framework, hidden_by_user() or driver or broken_install(framework))


def explain_under_windows(framework):
    """Does the same on Windows, where nvidia-smi is used to detect the GPU instead of system files."""
    if not shutil.which("nvidia-smi"):
        return None
    if framework.name == "TensorFlow":
        return sentence(framework, _("it computes on GPUs under Linux only; install this package within WSL 2"))
    return sentence(framework, hidden_by_user() or broken_install(framework))


def sentence(framework, reason):
    """Returns the message."""
    return _("This machine has an NVIDIA GPU that {name} does not see: {reason}.", name=framework.name, reason=reason)


def has_nvidia_gpu(root):
    """Returns whether an NVIDIA GPU is present, with or without a driver."""
    return any(
        read(device / "vendor") == NVIDIA and read(device / "class").startswith(DISPLAY)
        for device in root.glob("sys/bus/pci/devices/*")
    )


def hidden_by_user():
    """Returns the reason if an environment variable hides the GPU, else None."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return _("CUDA_VISIBLE_DEVICES hides it; unset it to compute there")
    if keras.backend.backend() == "jax" and os.environ.get("JAX_PLATFORMS") == "cpu":
        return _("JAX_PLATFORMS=cpu hides it; unset it to compute there")
    return None


def broken_driver(root):
    """Returns the problem with the driver, or None."""
    version = re.search(r"\s(\d+)\.\d+", read(root / "proc/driver/nvidia/version"))
    if not version:
        return _("its driver is not loaded; install the NVIDIA driver and check that nvidia-smi lists the GPU")
    if int(version[1]) < OLDEST_DRIVER:
        return _(
            "its driver is {version}; CUDA 12 needs {oldest_driver} or newer",
            version=version[1],
            oldest_driver=OLDEST_DRIVER,
        )
    if not list(root.glob("dev/nvidia[0-9]*")):
        return _("there is no /dev/nvidia0; a container has to be started with --gpus all")
    return None


def broken_install(framework):
    """Returns the problem with the framework's installation. Called if everything else is in order."""
    if not is_installed(framework.module):
        return _("the CUDA libraries are missing; pip install '{package}'", package=framework.package)
    if framework.name == "TensorFlow":
        return _("set TF_CPP_MIN_LOG_LEVEL=0 and run again to see the reason")
    return _("run nvidia-smi to check the GPU and its driver")


def is_installed(module):
    """Returns whether a module can be imported. This imports its parent packages."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def read(path):
    """Returns the text of a small file, or "" if it cannot be read."""
    try:
        return path.read_text("ascii", "replace").strip()
    except OSError:
        return ""
