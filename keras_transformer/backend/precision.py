"""Mixed precision: weights stay float32, and matrix products use the fastest dtype of the hardware."""

import contextlib

import keras

from keras_transformer.language import translate as _

CPU_FEATURES = ("amx_bf16", "avx512_bf16")  # Linux names of the instruction sets for bfloat16 products.
POLICIES = {"float32": "float32", "bfloat16": "mixed_bfloat16", "float16": "mixed_float16"}


def choose_precision(requested, devices):
    """Chooses the precision to train in.

    Args:
        requested: "float32", "bfloat16", "float16", or "auto" to choose by the hardware.
        devices: The `Devices` to train on.

    Returns:
        A tuple of "float32", "bfloat16" or "float16", and the reason as text.
    """
    if requested != "auto":
        return requested, _("as requested")
    if devices.gpus:
        return choose_for_gpu(devices)
    if keras.backend.backend() == "tensorflow" and (feature := bfloat16_feature()):
        return "bfloat16", _("this processor multiplies it faster: {feature}", feature=feature)
    return "float32", _("this processor has no faster precision")


def choose_for_gpu(devices):
    """Chooses for a GPU: bfloat16 from compute capability 8 (Ampere), float16 from 7 (Volta)."""
    capability = devices.compute_capability
    if capability >= (8, 0):
        return "bfloat16", _("this GPU has tensor cores for it")
    if capability >= (7, 0):
        return "float16", _("this GPU has tensor cores for it; the loss is scaled")
    return "float32", _("this GPU has no faster precision")


def bfloat16_feature():
    """Returns the CPU's instruction set for bfloat16 products, or None."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:  # Not Linux.
        return None
    return next((feature for feature in CPU_FEATURES if feature in flags), None)


@contextlib.contextmanager
def precision(name):
    """Context manager in which new layers use the given precision."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(POLICIES[name])
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)
