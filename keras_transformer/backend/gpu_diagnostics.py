"""Why the machine's NVIDIA GPU is not computed on, and what to type.

The frameworks fall back to the processor without a word, or with one among many that nobody reads.
"""

import dataclasses
import importlib.util
import os
import pathlib
import re
import shutil

import keras

NVIDIA, DISPLAY = "0x10de", "0x03"  # Of the vendor; of the class, whose first byte is that of displays.
OLDEST_DRIVER = 525  # That runs programs of CUDA 12.


@dataclasses.dataclass(frozen=True)
class Framework:
    """What a backend of Keras needs to compute on a GPU.

    Attributes:
        name: As people write it.
        package: What pip installs for it.
        module: What is there if it is installed so.
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
    """Says why the backend of Keras, which sees no GPU, does not see that of this machine.

    Args:
        root: Folder that the system's files are looked for in.

    Returns:
        A line, or None if the machine shows no NVIDIA GPU.
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
    """The same where drivers leave no files that say so, but a program."""
    if not shutil.which("nvidia-smi"):
        return None
    if framework.name == "TensorFlow":
        return sentence(framework, "it computes on GPUs under Linux only; install this package within WSL 2")
    return sentence(framework, hidden_by_user() or broken_install(framework))


def sentence(framework, reason):
    """The line that is said."""
    return f"This machine has an NVIDIA GPU that {framework.name} does not see: {reason}."


def has_nvidia_gpu(root):
    """Whether one is plugged in, with a driver or without."""
    return any(
        read(device / "vendor") == NVIDIA and read(device / "class").startswith(DISPLAY)
        for device in root.glob("sys/bus/pci/devices/*")
    )


def hidden_by_user():
    """Why nothing is seen where the environment says so, else None."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return "CUDA_VISIBLE_DEVICES hides it; unset it to compute there"
    if keras.backend.backend() == "jax" and os.environ.get("JAX_PLATFORMS") == "cpu":
        return "JAX_PLATFORMS=cpu hides it; unset it to compute there"
    return None


def broken_driver(root):
    """What is wrong with the driver, or None."""
    version = re.search(r"\s(\d+)\.\d+", read(root / "proc/driver/nvidia/version"))
    if not version:
        return "its driver is not loaded; install NVIDIA's driver until nvidia-smi lists the GPU"
    if int(version[1]) < OLDEST_DRIVER:
        return f"its driver is {version[1]}; CUDA 12 needs {OLDEST_DRIVER} or newer"
    if not list(root.glob("dev/nvidia[0-9]*")):
        return "there is no /dev/nvidia0; a container has to be started with --gpus all"
    return None


def broken_install(framework):
    """What is wrong with the framework; something is, if all else is well."""
    if not is_installed(framework.module):
        return f"the CUDA libraries are missing; pip install '{framework.package}'"
    if framework.name == "TensorFlow":
        return "start again with TF_CPP_MIN_LOG_LEVEL=0 to read why"
    return "nvidia-smi may tell why"


def is_installed(module):
    """Whether a module could be imported; its parents are imported for it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def read(path):
    """The text of a small file, "" if there is none."""
    try:
        return path.read_text("ascii", "replace").strip()
    except OSError:
        return ""
