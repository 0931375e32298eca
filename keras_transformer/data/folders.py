"""The corpus files in a folder, and the dataset splits that their names say."""

import pathlib
import re

from keras_transformer.data.chatterbot import CONVERSATIONS
from keras_transformer.data.parallel import language_of
from keras_transformer.data.rasa import NLU, YAML_ENDINGS, files_with_examples
from keras_transformer.data.readers import ENDINGS, JSON, ZIP, corpus_label, ending_of
from keras_transformer.data.text_files import GZIP
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

LANGUAGE = re.compile(r"[a-z]{2}([-_][A-Za-z]+)?")
"""What the names of parallel files are expected to end in: a language, or one of a country or script."""


def files_in(folder, encoding=None, names=None):
    """Returns the corpus files of a folder, in the order of their names, with their splits.

    Of a project of Rasa, they are those with examples. If there are none in another folder itself, they are looked for
    in its folder `data`, and in folders named after splits. If there are none there either, they are the parallel text
    in the languages `names`.

    Args:
        folder: The folder.
        encoding: Encoding of the files.
        names: The columns of questions and answers, or the languages that names such as `train.en` end in; or None.

    Returns:
        A list of pairs: the path, or a tuple of the paths of two parallel files; and the name of the split or None.

    Raises:
        InputError: If there are no corpus files, or only some of them name a split.
    """
    folder = pathlib.Path(folder)
    if examples := files_with_examples(folder, encoding):
        return [(file, None) for file in examples]
    here = sorted(folder.iterdir())
    within = sorted(file for name in (DATA, *SPLIT_NAMES) for file in (folder / name).rglob("*"))
    files = (
        corpus_files(here, encoding)
        or corpus_files(within, encoding)
        or [file for file in here + within if is_json(file)]  # Last: beside other files, JSON describes them.
    )
    if files:
        splits = [split_of(file.relative_to(folder)) for file in files]
    else:
        files = parallel_files(here + within, names)
        splits = [split_of(first.relative_to(folder)) for first, _second in files]
    if not files:
        raise no_corpus_file(folder, here + within)
    if None in splits and set(splits) != {None}:
        raise InputError(
            _(
                "{path}: its name contains no split (train, validation, test), unlike other files in "
                "the folder; rename it",
                path=corpus_label(files[splits.index(None)]),
            )
        )
    return list(zip(files, splits))


def corpus_files(files, encoding):
    """Returns those files that are corpora but JSON. A ZIP file is none: it holds what may lie beside it."""
    files = (file for file in files if ending_of(file) in ENDINGS and ending_of(file) != ZIP and not is_json(file))
    files = (file for file in files if not file.name.startswith(CACHE))
    return [file for file in files if file.suffix not in YAML_ENDINGS or holds_pairs(file, encoding)]


def is_json(file):
    """Returns whether a file is JSON, by its name."""
    return ending_of(file).removesuffix(GZIP) == JSON


def parallel_files(files, names):
    """Returns the pairs of parallel files in two languages: `train.en` and `train.de` for `names` "en" and "de"."""
    if not names:
        return []
    by_name = {language_of(file): file for file in files if file.is_file()}
    stems = [stem for language, stem in by_name if language == names[0] and (names[1], stem) in by_name]
    return [tuple(by_name[name, stem] for name in names) for stem in stems]


def no_corpus_file(folder, files):
    """Returns an `InputError` that a folder has no corpus file, with what to do if some may be parallel text."""
    by_stem = {}
    for file in files:
        language, stem = language_of(file)
        if LANGUAGE.fullmatch(language):
            by_stem.setdefault(stem, []).append((file.name, language))
    if parallel := next((found for found in by_stem.values() if len(found) > 1), None):
        (first, question), (second, answer) = parallel[:2]
        return InputError(
            _(
                "{path}: no corpus file in this folder; if line i of {second} translates line i of {first}, add "
                "--question {question} --answer {answer}",
                path=folder,
                first=first,
                second=second,
                question=question,
                answer=answer,
            )
        )
    return InputError(
        _(
            "{path}: no corpus file in this folder; its name must end in one of {endings}",
            path=folder,
            endings=", ".join(ending for ending in ENDINGS if ending != ZIP),
        )
    )


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
