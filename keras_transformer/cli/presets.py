"""The table of presets, for eyes or as JSON."""

import json

from keras_transformer.presets import PRESETS, count_parameters, training_bytes

COLUMNS = ("preset", "num_layers", "d_model", "num_heads", "dff", "vocab_size", "parameters", "training memory")
NOTE = """\
Parameters with all of vocab_size; a small corpus yields fewer. Training memory is that of weights, gradients, Adam's
moments and the moving average, in 32 bits each; activations, which grow with the batch, and TensorFlow come on top."""


def presets_json():
    """All settings of every preset, with its parameters and training memory, as JSON."""
    return json.dumps({name: {**config.to_dict(), **estimates(config)} for name, config in PRESETS.items()}, indent=2)


def presets_table():
    """Sizes, parameters and training memory of every preset, as a table of text with a note."""
    rows = [COLUMNS, *(row(name, config) for name, config in PRESETS.items())]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(cells, widths)) for cells in rows]
    return "\n".join(lines) + "\n\n" + NOTE


def row(name, config):
    """The cells of a preset."""
    sizes = [f"{getattr(config, column):,}" for column in COLUMNS[1:6]]
    known = estimates(config)
    return [name, *sizes, f"{known['parameters'] / 1e6:.1f} M", f"{known['training_bytes'] / 1e9:.2f} GB"]


def estimates(config):
    """What follows from the settings of a preset."""
    return {"parameters": count_parameters(config), "training_bytes": training_bytes(config)}
