"""`keras.ops`, imported when the first operation is called.

Importing Keras with its backend takes seconds. Strategies and configurations are created, validated and compared
without it, and a run that retrieves its answers never needs it.
"""

import importlib


def __getattr__(name):
    operation = getattr(importlib.import_module("keras.ops"), name)
    globals()[name] = operation
    return operation
