"""In which precision to train: weights stay float32, products are made in what the hardware multiplies fastest."""

import contextlib

import keras

CPU_FEATURES = ("amx_bf16", "avx512_bf16")  # As Linux names the instructions that multiply bfloat16.
POLICIES = {"float32": "float32", "bfloat16": "mixed_bfloat16", "float16": "mixed_float16"}


def choose_precision(wanted, devices):
    """The precision to train in, and why.

    Args:
        wanted: "float32", "bfloat16", "float16", or "auto" to choose.
        devices: The `Devices` to train on.

    Returns:
        One of the first three, and the reason in words.
    """
    if wanted != "auto":
        return wanted, "as asked"
    if devices.gpus:
        return choose_for_gpu(devices)
    if keras.backend.backend() == "tensorflow" and (feature := bfloat16_feature()):
        return "bfloat16", f"this processor multiplies it faster: {feature}"
    return "float32", "no faster one on this processor"


def choose_for_gpu(devices):
    """The same for a GPU: bfloat16 from compute capability 8 (Ampere), float16 from 7 (Volta)."""
    capability = devices.compute_capability
    if capability >= (8, 0):
        return "bfloat16", "this GPU has tensor cores for it"
    if capability >= (7, 0):
        return "float16", "this GPU has tensor cores for it; the loss is scaled"
    return "float32", "this GPU has no faster one"


def bfloat16_feature():
    """The processor's instructions for bfloat16 products, or None."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:  # Not Linux.
        return None
    return next((feature for feature in CPU_FEATURES if feature in flags), None)


@contextlib.contextmanager
def precision(name):
    """Within it, new layers compute in the precision of that name."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(POLICIES[name])
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)
