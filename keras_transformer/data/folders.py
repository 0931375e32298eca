"""The corpus files in a folder, and the dataset splits that their names say."""

import pathlib
import re

from keras_transformer.data.chatterbot import CONVERSATIONS
from keras_transformer.data.rasa import NLU, YAML_ENDINGS, files_with_examples
from keras_transformer.data.readers import ENDINGS, ZIP, ending_of
from keras_transformer.data.yaml_files import top_level_keys
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

SPLIT_NAMES = {
    "train": "train", "training": "train",
    "validation": "validation", "valid": "validation", "val": "validation", "dev": "validation",
    "test": "test",
}  # fmt: skip
"""Words in file names that determine the split of a file in a folder."""

DATA = "data"  # The folder of a dataset of Hugging Face in which its files are.
CACHE = "cache-"  # What `datasets` of Hugging Face computes goes into files of such names, beside the dataset.


def files_in(folder, encoding="utf-8"):
    """Returns the corpus files of a folder, in the order of their names, with their splits.

    Of a project of Rasa, they are those with examples. If there are none in another folder itself, they are looked for
    in its folder `data`, and in folders named after splits.

    Args:
        folder: The folder.
        encoding: Encoding of the files.

    Returns:
        A list of pairs: the path, and the name of the split or None.

    Raises:
        InputError: If there are no corpus files, or only some of them name a split.
    """
    folder = pathlib.Path(folder)
    if examples := files_with_examples(folder, encoding):
        return [(file, None) for file in examples]
    within = (file for name in (DATA, *SPLIT_NAMES) for file in (folder / name).rglob("*"))
    files = corpus_files(folder.iterdir(), encoding) or corpus_files(within, encoding)
    if not files:
        raise InputError(
            _(
                "{path}: no corpus file in this folder; its name must end in one of {endings}",
                path=folder,
                endings=", ".join(ending for ending in ENDINGS if ending != ZIP),
            )
        )
    splits = [split_of(file.relative_to(folder)) for file in files]
    if None in splits and set(splits) != {None}:
        raise InputError(
            _(
                "{path}: its name contains no split (train, validation, test), unlike other files in "
                "the folder; rename it",
                path=files[splits.index(None)],
            )
        )
    return list(zip(files, splits))


def corpus_files(files, encoding):
    """Returns those files that are corpora, sorted. A ZIP file is none: it holds what may lie beside it."""
    files = (file for file in files if ending_of(file) in ENDINGS and ending_of(file) != ZIP)
    files = (file for file in files if not file.name.startswith(CACHE))
    return sorted(file for file in files if file.suffix not in YAML_ENDINGS or holds_pairs(file, encoding))


def holds_pairs(file, encoding):
    """Returns whether a YAML file has conversations or examples, unlike settings or a part of a project."""
    return bool(top_level_keys(file, encoding) & {CONVERSATIONS, NLU})


def split_of(file):
    """Returns the split that the name of a file contains, or else the name of its folder; None if neither does.

    Args:
        file: The path from the folder of the corpus.
    """
    for name in (file.name, *file.parent.parts[::-1]):
        words = re.split(r"[\W\d_]+", name.lower())
        if split := next((SPLIT_NAMES[word] for word in words if word in SPLIT_NAMES), None):
            return split
    return None
