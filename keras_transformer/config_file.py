"""A training in a TOML file: settings by name, and what `keras-transformer train` is to do with them.

Any field of `Config` may stand in it, and besides:

    preset              where the other settings come from
    corpus              a path or a list of paths
    validation          likewise
    question, answer    names of columns
    encoding            of the corpus
    tokenizer_file      path of a tokenizer; target_tokenizer_file, of that of the answers
    run, from           run folders: the one to make, and the one to start from

Paths are meant as on the command line: from the folder where one stands.
"""

import json
import pathlib
import sys

from keras_transformer.config import FIELDS, check_setting
from keras_transformer.errors import InputError
from keras_transformer.presets import preset

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WORDS = ("preset", "question", "answer", "encoding", "run", "from", "tokenizer_file", "target_tokenizer_file")
LISTS = ("corpus", "validation")
HEADER = """\
# The training that made this folder. To do it once more, in another folder:
#     keras-transformer train --config THIS_FILE --run NEW
# What an option of the command line says goes before what is written here.

"""


def read_config_file(path):
    """Reads a training's TOML file.

    Args:
        path: The file.

    Returns:
        The settings, a dictionary by the names in `Config`; and the rest, a dictionary in which paths of corpora are
        lists.

    Raises:
        InputError: If the file cannot be read, is no TOML, or holds an unknown key or an impossible value.
    """
    try:
        table = tomllib.loads(pathlib.Path(path).read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        for key, value in table.items():
            check_entry(key, value)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    settings = {key: value for key, value in table.items() if key in FIELDS}
    rest = {key: value for key, value in table.items() if key not in FIELDS}
    rest |= {key: [rest[key]] for key in LISTS if isinstance(rest.get(key), str)}
    return settings, rest


def check_entry(key, value):
    """Raises `InputError` if a file must not hold that."""
    if key in FIELDS:
        check_setting(key, value)
    elif key in LISTS:
        paths = [value] if isinstance(value, str) else value
        if not (isinstance(paths, list) and paths and all(isinstance(path, str) for path in paths)):
            raise InputError(f"{key} must be a path or a list of paths, not {value!r}")
    elif key not in WORDS:
        raise InputError(f"unknown key {key!r}; there are {', '.join(sorted((*LISTS, *WORDS, *FIELDS)))}")
    elif not isinstance(value, str):
        raise InputError(f"{key} must be text in quotes, not {value!r}")
    elif key == "preset":
        preset(value)


def config_file_text(settings, rest):
    """The text of a file that `read_config_file` reads as these settings and the rest; None is left out."""
    entries = {key: value for key, value in (rest | settings).items() if value is not None}
    # Numbers, booleans, lists and, but for one character, strings are written in TOML as in JSON.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in entries.items()]
    return HEADER + "".join(lines).replace("\x7f", "\\u007f")
