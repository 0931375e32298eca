"""The folder of an export: written atomically, verified against the run, and described by `export.json`."""

import contextlib
import datetime
import importlib.metadata
import json
import math
import os
import pathlib
import platform
import shutil

import numpy as np

from keras_transformer import __version__
from keras_transformer.chat.datastore import CORRECTIONS
from keras_transformer.errors import NO_ROOM, DiskFull, InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import sha256, write_json
from keras_transformer.runs.run import WEIGHTS
from keras_transformer.runs.tensor_file import load_tensors

ABOUT = "export.json"
FORMAT = 1  # Format version of export.json. Incremented when older readers could no longer read it.
QUESTIONS = (
    "안녕하세요", "오늘 날씨 어때?", "ㅋㅋㅋ 뭐 해요", "Hello, who are you?", "thank  you!", "3 + 4 = ?", "", "🙂 é 漢",
)  # fmt: skip
"""Questions for the verification of every export. `questions_of` adds random ones."""

MADE_UP, PIECES = 8, 6  # Number of random questions, and of pieces in each.
LEAST_EQUAL = 0.5  # Minimum share of equal answers if the weights are rounded.
SCORES_DIFFER = 1e-2  # Tolerance, relative or in nats. CPU programs differ by a tenth of it, and GPUs round products.


@contextlib.contextmanager
def new_folder(path):
    """Context manager for a temporary folder that is moved to `path` at the end, or removed after an error.

    Args:
        path: Target path. It must not exist, or be an empty folder.

    Yields:
        The temporary folder, next to the target.

    Raises:
        InputError: If the target already exists, or cannot be written.
        DiskFull: If the disk is full.
    """
    path = pathlib.Path(path)
    if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(_("{path}: already exists; use a new or empty folder for the export", path=path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        if isinstance(error, DiskFull) or error.errno is None:
            raise
        if error.errno in NO_ROOM:
            what = f"{NO_ROOM[error.errno]}: could not write {path}; make room and run it again"
            raise DiskFull(error.errno, what) from error
        raise InputError(_("{path}: cannot be written: {reason}", path=path, reason=error.strerror)) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


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
        compared = "answers, with their scores," if exact else "answers"
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


def about_export(run, folder, kind, options, checked):
    """Returns the content of `export.json`: format, origin and files of the folder."""
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
        "files": {path.relative_to(folder).as_posix(): about_file(path) for path in files_of(folder)},
    }


def about_file(path):
    """Returns the size and the checksum of a file."""
    data = path.read_bytes()
    return {"bytes": len(data), "sha256": sha256(data)}


def files_of(folder):
    """Returns all files below a folder, sorted, except `export.json` and the corrections, which may change."""
    others = {folder / ABOUT, folder / CORRECTIONS}
    return sorted(path for path in folder.rglob("*") if path.is_file() and path not in others)


def write_about(folder, about):
    """Writes `export.json`."""
    write_json(folder / ABOUT, about)


def read_about(folder):
    """Reads `export.json`. Raises `InputError` if it is damaged, or a file is missing or has changed."""
    folder = pathlib.Path(folder)
    try:
        about = json.loads((folder / ABOUT).read_text("utf-8"))
        version, files = about["format"], about["files"].items()
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(_("{path}: damaged: {error}", path=folder / ABOUT, error=error)) from error
    if version != FORMAT:
        raise InputError(
            _(
                "{path}: has format {version}, but this version reads format {format}",
                path=folder / ABOUT,
                version=version,
                format=FORMAT,
            )
        )
    for name, file in files:
        if not (folder / name).is_file():
            raise InputError(_("{path}: missing; export the run again", path=folder / name))
        if about_file(folder / name) != file:
            raise InputError(
                _("{path}: damaged, or changed since it was written; export the run again", path=folder / name)
            )
    return about
