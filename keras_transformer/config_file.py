"""TOML configuration files for `keras-transformer train`.

A file may contain any field of `Config` and these keys:

    preset              preset that supplies the other settings
    corpus              path or list of paths
    validation          path or list of paths of the validation corpus
    question, answer    column names
    encoding            encoding of the corpus
    tokenizer_file      path of a tokenizer; target_tokenizer_file: that of the answers
    run, from           run folder to create, and run folder to start from

As on the command line, relative paths start at the working directory.
"""

import json
import pathlib
import re
import tomllib

from keras_transformer.config import FIELDS, check_setting
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.presets import preset

WORDS = ("preset", "question", "answer", "encoding", "run", "from", "tokenizer_file", "target_tokenizer_file")
LISTS = ("corpus", "validation")
DOTTED = re.compile(r"(?:[^\s.=,\[\]{}]+\s*\.\s*){64}")  # A key such as a.a.a, with many parts.
HEADER = """\
# Configuration of this run. To repeat the training in a new folder:
#     keras-transformer train --config THIS_FILE --run NEW
# Command line options override the values in this file.

"""


def read_config_file(path):
    """Reads a TOML configuration file.

    Args:
        path: The file.

    Returns:
        Two dictionaries: the settings by their names in `Config`, and the other entries. In the latter, corpus paths
        are lists.

    Raises:
        InputError: If the file cannot be read, is not TOML, or contains an unknown key or an invalid value.
    """
    try:
        text = pathlib.Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(_("{path}: not UTF-8", path=path)) from error
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character.
        reason = getattr(error, "strerror", None) or error
        raise InputError(_("{path}: cannot be read: {reason}", path=path, reason=reason)) from error
    try:
        table = parse(text)
    except (ValueError, RecursionError) as error:  # Also for a number of thousands of digits.
        raise InputError(_("{path}: not TOML: {error}", path=path, error=error)) from error
    try:
        for key, value in table.items():
            check_entry(key, value)
    except ValueError as error:  # An `InputError`, or Python's of a number too long to be shown.
        raise InputError(f"{path}: {error}") from error
    settings = {key: value for key, value in table.items() if key in FIELDS}
    rest = {key: value for key, value in table.items() if key not in FIELDS}
    rest |= {key: [rest[key]] for key in LISTS if isinstance(rest.get(key), str)}
    return settings, rest


def parse(text):
    """Returns the table of a TOML text; raises `ValueError` or `RecursionError` if it is none."""
    if DOTTED.search(text):  # tomllib would take the square of its length.
        raise ValueError(_("a key has more than 64 parts"))
    return tomllib.loads(text)


def check_entry(key, value):
    """Raises `InputError` if an entry has an unknown key or an invalid value."""
    if key in FIELDS:
        check_setting(key, value)
    elif key in LISTS:
        paths = [value] if isinstance(value, str) else value
        if not (isinstance(paths, list) and paths and all(isinstance(path, str) for path in paths)):
            raise InputError(_("{key} must be a path or a list of paths, not {value!r}", key=key, value=value))
    elif key not in WORDS:
        raise InputError(
            _("unknown key {key!r}; there are {known}", key=key, known=", ".join(sorted((*LISTS, *WORDS, *FIELDS))))
        )
    elif not isinstance(value, str):
        raise InputError(_("{key} must be text in quotes, not {value!r}", key=key, value=value))
    elif key == "preset":
        preset(value)


def config_file_text(settings, rest):
    """Returns the text of a TOML file with these settings and other entries; entries that are None are omitted."""
    entries = {key: value for key, value in (rest | settings).items() if value is not None}
    # TOML writes numbers, booleans and lists as JSON does, and strings too, except for the character DEL.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in entries.items()]
    return HEADER + "".join(lines).replace("\x7f", "\\u007f")
