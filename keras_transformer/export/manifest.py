"""The folder of an export: written atomically, verified against the run, and described by `export.json`."""

import contextlib
import datetime
import errno
import glob
import importlib.metadata
import json
import math
import os
import pathlib
import platform
import re
import shutil

import numpy as np

from keras_transformer import __version__
from keras_transformer.chat.datastore import CORRECTIONS
from keras_transformer.errors import NO_ROOM, DiskFull, InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import is_alive, sha256, write_json
from keras_transformer.runs.run import WEIGHTS
from keras_transformer.runs.tensor_file import load_tensors

ABOUT = "export.json"
PLACE = '<script type="application/json" id="about">{}</script>'  # Of the content of export.json in an HTML file.
FORMAT = 1  # Format version of export.json. Incremented when older readers could no longer read it.
QUESTIONS = (
    "안녕하세요", "오늘 날씨 어때?", "ㅋㅋㅋ 뭐 해요", "Hello, who are you?", "thank  you!", "3 + 4 = ?", "", "🙂 é 漢",
)  # fmt: skip
"""Questions for the verification of every export. `questions_of` adds random ones."""

OPTIONAL = type(None)
SHAPE = {
    "format": int, "kind": str, "options": dict, "versions": dict, "files": dict,
    "run": {
        "id": str, "training": (dict, OPTIONAL),
        "config": dict.fromkeys(("num_layers", "d_model", "num_heads", "dff", "max_length"), int),
    },
    "corpus": {"name": (str, OPTIONAL), "pairs": (int, OPTIONAL), "licence": (str, OPTIONAL)},
    "verified": {"questions": int, "equal": int},
}  # fmt: skip
"""The parts of `export.json` that are read, with their types. See `misfit`."""

MADE_UP, PIECES = 8, 6  # Number of random questions, and of pieces in each.
LEAST_EQUAL = 0.5  # Minimum share of equal answers if the weights are rounded.
SCORES_DIFFER = 1e-2  # Tolerance, relative or in nats. CPU programs differ by a tenth of it, and GPUs round products.


def check_new(path):
    """Raises `InputError` if the path of an export exists and is no empty folder."""
    path = pathlib.Path(path)
    if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(_("{path}: already exists; use a new or empty folder for the export", path=path))


@contextlib.contextmanager
def new_folder(path, file=None):
    """Context manager for a temporary folder that is moved to `path` at the end, or removed after an error.

    Args:
        path: Target path. It must not exist, or be an empty folder.
        file: Name of the file in the folder that is moved to `path` instead of the folder; None to move the folder.

    Yields:
        The temporary folder, next to the target.

    Raises:
        InputError: If the target already exists, or cannot be written.
        DiskFull: If the disk is full.
    """
    check_new(path)
    path = pathlib.Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        remove_leftovers(path)
        temporary.mkdir(parents=True)
        yield temporary
        sync(temporary)
        os.replace(temporary / file if file else temporary, path)
        sync_entry(path.parent)
    except Exception as error:
        if isinstance(error, DiskFull):
            raise
        if number := no_room(error):
            reason = _(NO_ROOM[number])
            what = _("{reason}: could not write {path}; make room and run it again", reason=reason, path=path)
            raise DiskFull(number, what) from error
        if not isinstance(error, OSError) or error.errno is None:
            raise
        raise InputError(_("{path}: cannot be written: {reason}", path=path, reason=error.strerror)) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_leftovers(path):
    """Removes the temporary folders of killed exports to `path`, but not those of running ones."""
    for folder in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        owner = folder.name.split(".")[-2]
        if owner.isdigit() and not is_alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def no_room(error):
    """Returns the number in `NO_ROOM` of an error that means a full disk, otherwise None.

    The libraries that write the formats have errors of their own: TensorFlow raises `ResourceExhaustedError`, with the
    operating system's words.
    """
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno if error.errno in NO_ROOM else None
    return next((number for number in NO_ROOM if os.strerror(number) in str(error)), None)


def sync(folder):
    """Writes everything below a folder to the disk, so that a power cut after the rename loses nothing."""
    for path in folder.rglob("*"):
        sync_entry(path)
    sync_entry(folder)


def sync_entry(path):
    """Writes a file, or the names in a folder, to the disk."""
    if os.name == "nt" and path.is_dir():  # Windows opens no folders.
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # Some network file systems sync no folders.
            raise
    finally:
        os.close(descriptor)


def questions_of(tokenizer):
    """Returns the questions for the verification: `QUESTIONS`, and random pieces of the run's vocabulary."""
    generator = np.random.default_rng(0)
    made_up = tokenizer.decode(generator.integers(0, tokenizer.vocab_size, (MADE_UP, PIECES)).tolist())
    return [*QUESTIONS, *made_up]


def verified(answers, expected, exact):
    """Compares the answers of an export with those of its run.

    Args:
        answers: Answers of the export, a list of pairs of text and score.
        expected: The run's answers to the same questions.
        exact: Whether every answer and its score must match. Otherwise a share of `LEAST_EQUAL` must match, by text.

    Returns:
        The result for `export.json`, a dictionary.

    Raises:
        InputError: If too few answers match.
    """
    equal = sum(is_same(*pair, exact) for pair in zip(answers, expected, strict=True))
    if equal < (len(expected) if exact else LEAST_EQUAL * len(expected)):
        compared = _("answers, with their scores,") if exact else _("answers")
        raise InputError(
            _(
                "the export was discarded: only {equal} of {expected} {compared} match those of the run",
                equal=equal,
                expected=len(expected),
                compared=compared,
            )
        )
    return {"questions": len(expected), "equal": equal}


def is_same(exported, expected, exact):
    """Returns whether two answers are equal. With `exact`, their scores must match as well."""
    (answer, score), (expected_answer, expected_score) = exported, expected
    if None in (score, expected_score):  # Retrieved answers have no score.
        same_score = score is expected_score
    else:
        same_score = math.isclose(score, expected_score, rel_tol=SCORES_DIFFER, abs_tol=SCORES_DIFFER)
    return answer == expected_answer and (same_score or not exact)


def about_export(run, folder, kind, options, checked, editable=()):
    """Returns the content of `export.json`: format, origin and files of the folder, without those to be edited."""
    training = load_tensors(run.path / WEIGHTS, run.id)[1]
    corpus = {name: run.corpus.get(name) for name in ("name", "fingerprint", "pairs", "licence")}
    versions = {name: importlib.metadata.version(name) for name in ("keras", "tensorflow")}
    versions |= {"keras_transformer": __version__, "python": platform.python_version()}
    return {
        "format": FORMAT,
        "kind": kind,
        "options": options,
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions,
        "run": {"id": run.id, "config": run.config.to_dict(), "training": training},
        "corpus": corpus,
        "verified": checked,
        "files": {path.relative_to(folder).as_posix(): about_file(path) for path in files_of(folder, editable)},
    }


def about_file(path):
    """Returns the size and the checksum of a file."""
    data = path.read_bytes()
    return {"bytes": len(data), "sha256": sha256(data)}


def files_of(folder, editable=()):
    """Returns all files below a folder, sorted, except `export.json` and those that may change."""
    others = {folder / name for name in (ABOUT, CORRECTIONS, *editable)}
    return sorted(path for path in folder.rglob("*") if path.is_file() and path not in others)


def embed_about(file, about):
    """Writes the content of `export.json` into an HTML file, which cannot list itself."""
    content = json.dumps({**about, "files": {}}, ensure_ascii=False).replace("<", r"\u003c")
    file.write_bytes(file.read_bytes().replace(*(PLACE.format(text).encode() for text in ("null", content)), 1))


def read_embedded(file):
    """Reads what `embed_about` wrote, and adds the file. Raises `InputError` if the file is no such export."""
    match = re.search(PLACE.format("({.+?})"), file.read_text("utf-8", errors="replace"))
    if not match:
        raise InputError(_("{path}: not an export of this package, or damaged", path=file))
    return {**json.loads(match[1]), "files": {file.name: about_file(file)}}


def write_about(folder, about):
    """Writes `export.json`."""
    write_json(folder / ABOUT, about)


def read_about(folder):
    """Reads `export.json`. Raises `InputError` if it is damaged, or a file is missing or has changed."""
    folder = pathlib.Path(folder)
    path = folder / ABOUT
    try:
        about = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error
    if isinstance(about, dict) and "format" in about and about["format"] != FORMAT:
        raise InputError(
            _(
                "{path}: has format {version}, but this version reads format {format}",
                path=path,
                version=about["format"],
                format=FORMAT,
            )
        )
    if (place := misfit(about, SHAPE)) is not None:
        raise InputError(_("{path}: damaged: {place} is missing or invalid", path=path, place=place or "{…}"))
    for name, file in about["files"].items():
        check_file(folder, name, file)
    return about


def misfit(value, shape, place=""):
    """Returns the place of the first part of a JSON value that has another shape, such as "run.id"; None if none has.

    Args:
        value: The value.
        shape: Its type, a tuple of types, or a dictionary with the shapes of keys that must be there.
        place: The place of the value; "" for the whole.
    """
    if not isinstance(shape, dict):
        return None if isinstance(value, shape) else place
    if not isinstance(value, dict):
        return place
    for key, part in shape.items():
        inside = f"{place}.{key}".strip(".")
        if key not in value:
            return inside
        if (found := misfit(value[key], part, inside)) is not None:
            return found
    return None


def check_file(folder, name, file):
    """Raises `InputError` unless a file is in the folder of the export, with the size and checksum of `export.json`."""
    inside = pathlib.PurePath(name)
    if inside.is_absolute() or inside.drive or ".." in inside.parts:
        place = f"files.{name}"
        raise InputError(_("{path}: damaged: {place} is missing or invalid", path=folder / ABOUT, place=place))
    if not (folder / name).is_file():
        raise InputError(_("{path}: missing; export the run again", path=folder / name))
    try:
        unchanged = about_file(folder / name) == file
    except OSError as error:
        raise InputError(f"{folder / name}: {error.strerror}") from error
    if not unchanged:
        raise InputError(
            _("{path}: damaged, or changed since it was written; export the run again", path=folder / name)
        )
