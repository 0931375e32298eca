"""The table of presets, as text or as JSON."""

import json

from keras_transformer.presets import PRESETS, PURPOSES, count_parameters, training_bytes

COLUMNS = ("preset", "num_layers", "d_model", "num_heads", "dff", "vocab_size", "parameters", "training memory")
NOTE = """\
Parameters are counted with the full vocab_size; a small corpus yields fewer. Training memory covers weights, gradients,
Adam's moments and the moving average in float32; activations, which grow with the batch, and TensorFlow need more."""


def presets_json():
    """Returns all settings of every preset, with its purpose, parameters and training memory, as JSON."""
    return json.dumps(
        {
            name: {"purpose": PURPOSES[name], **config.to_dict(), **estimates(config)}
            for name, config in PRESETS.items()
        },
        indent=2,
    )


def presets_table():
    """Returns the sizes, parameters, training memory and purpose of every preset as a text table with a note."""
    rows = [COLUMNS, *(row(name, config) for name, config in PRESETS.items())]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(cells, widths)) for cells in rows]
    purposes = [f"{name.rjust(widths[0])}  for {purpose}" for name, purpose in PURPOSES.items()]
    return "\n".join([*lines, "", *purposes, "", NOTE])


def row(name, config):
    """Returns the table row of a preset."""
    sizes = [f"{getattr(config, column):,}" for column in COLUMNS[1:6]]
    estimated = estimates(config)
    return [name, *sizes, f"{estimated['parameters'] / 1e6:.1f} M", f"{estimated['training_bytes'] / 1e9:.2f} GB"]


def estimates(config):
    """Returns the parameters and the training memory of a preset."""
    return {"parameters": count_parameters(config), "training_bytes": training_bytes(config)}
