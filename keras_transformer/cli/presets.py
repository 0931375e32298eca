"""The table of presets, as text or as JSON."""

import json

from keras_transformer.cli.console import table
from keras_transformer.language import translatable
from keras_transformer.language import translate as _
from keras_transformer.presets import PRESETS, PURPOSES, count_parameters, training_bytes

SIZES = ("num_layers", "d_model", "num_heads", "dff", "vocab_size")
NOTE = translatable(
    """\
Parameters are counted with the full vocab_size; a small corpus yields fewer. Training memory covers weights, gradients,
Adam's moments and the moving average in float32; activations, which grow with the batch, and TensorFlow need more."""
)


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
    headings = (_("preset"), *SIZES, _("parameters"), _("training memory"))
    sizes = table([headings, *(row(name, config) for name, config in PRESETS.items())], right=range(len(headings)))
    purposes = table([(name, _("for {purpose}", purpose=_(about))) for name, about in PURPOSES.items()], right=[0])
    return "\n\n".join([sizes, purposes, _(NOTE)])


def row(name, config):
    """Returns the table row of a preset."""
    sizes = [f"{getattr(config, size):,}" for size in SIZES]
    estimated = estimates(config)
    return [name, *sizes, f"{estimated['parameters'] / 1e6:.1f} M", f"{estimated['training_bytes'] / 1e9:.2f} GB"]


def estimates(config):
    """Returns the parameters and the training memory of a preset."""
    return {"parameters": count_parameters(config), "training_bytes": training_bytes(config)}
