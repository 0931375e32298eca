"""Which device the training will run on, in words."""

import os

import keras


def describe_device():
    """The device that Keras' backend computes on, for example "CPU (2 cores; tensorflow)"."""
    backend = keras.backend.backend()
    gpus = {"tensorflow": tensorflow_gpus, "jax": jax_gpus, "torch": torch_gpus}[backend]()
    if gpus:
        return f"GPU ({', '.join(gpus)}; {backend})"
    return f"CPU ({os.cpu_count()} cores; {backend})"


def tensorflow_gpus():
    """Names of the GPUs that TensorFlow sees."""
    import tensorflow as tf

    devices = tf.config.list_physical_devices("GPU")
    return [tf.config.experimental.get_device_details(device).get("device_name", device.name) for device in devices]


def jax_gpus():
    """Names of the GPUs that JAX sees."""
    import jax

    return [device.device_kind for device in jax.devices() if device.platform != "cpu"]


def torch_gpus():
    """Names of the GPUs that PyTorch sees."""
    import torch

    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
