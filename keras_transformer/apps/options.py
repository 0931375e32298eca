"""The options of `train` that set a `Config`: one for each of its fields, documented where the field is."""

import argparse

from keras_transformer.config import FIELDS
from keras_transformer.presets import PRESETS

DEFAULT_PRESET = "tutorial"


def add_settings(train):
    """Adds `--preset` and an option for each setting to the grammar of `train`."""
    settings = train.add_argument_group("settings")
    settings.add_argument("--preset", choices=PRESETS, help=f"settings to start from (default: {DEFAULT_PRESET})")
    for name, field in FIELDS.items():
        option, about = f"--{name.replace('_', '-')}", field.metadata["about"].replace("%", "%%")
        if field.type is bool:
            settings.add_argument(option, action=argparse.BooleanOptionalAction, help=about)
        else:
            # What a word may be is left to `Config`, which says it as it says it of a file.
            words = field.metadata["choices"]
            metavar = "N" if words is None else "|".join(words)
            settings.add_argument(option, type=field.type, metavar=metavar, help=about)


def given_settings(options):
    """The settings that the command line names, by their names in `Config`."""
    return {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
