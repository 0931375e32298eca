"""The folder of an export: there whole or not at all, and sure of itself."""

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
from keras_transformer.runs.atomic_io import sha256, write_json
from keras_transformer.runs.run import WEIGHTS
from keras_transformer.runs.tensor_file import load_tensors

ABOUT = "export.json"
FORMAT = 1  # Of export.json; raised when an older reader could no longer make sense of it.
QUESTIONS = (
    "안녕하세요", "오늘 날씨 어때?", "ㅋㅋㅋ 뭐 해요", "Hello, who are you?", "thank  you!", "3 + 4 = ?", "", "🙂 é 漢",
)  # fmt: skip
"""What every export is asked before it is believed, besides what `questions_of` makes up."""

MADE_UP, PIECES = 8, 6
LEAST_EQUAL = 0.5  # Of the answers, where rounded weights may change some.
SCORES_DIFFER = 1e-2  # At most, relatively or in nats. Programs on a CPU differ by a tenth of it; GPUs round products.


@contextlib.contextmanager
def new_folder(path):
    """A folder to write to, which is moved to its place when the block ends, and removed if that raises an error.

    Args:
        path: Where it shall be: nothing yet, or an empty folder.

    Yields:
        The folder beside that place.

    Raises:
        InputError: If the place is taken, or cannot be written.
        DiskFull: If there is no room.
    """
    path = pathlib.Path(path)
    if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"{path}: is there already; name a new or empty folder for the export")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.mkdir(parents=True)
        yield beside
        os.replace(beside, path)
    except OSError as error:
        if isinstance(error, DiskFull) or error.errno is None:
            raise
        if error.errno in NO_ROOM:
            what = f"{NO_ROOM[error.errno]}: could not write {path}; make room and run it again"
            raise DiskFull(error.errno, what) from error
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def questions_of(tokenizer):
    """Questions to compare answers by: a few that people ask, and pieces of the run's own vocabulary at random."""
    random = np.random.default_rng(0)
    made_up = tokenizer.decode(random.integers(0, tokenizer.vocab_size, (MADE_UP, PIECES)).tolist())
    return [*QUESTIONS, *made_up]


def verified(found, expected, exact):
    """Compares the answers of an export with those of its run.

    Args:
        found: Answers, a list of pairs of text and score.
        expected: The run's answers to the same questions.
        exact: Whether every answer must be equal and have the run's score; otherwise `LEAST_EQUAL` of them be equal.

    Returns:
        What `export.json` says of it, a dictionary.

    Raises:
        InputError: If too few are equal.
    """
    equal = sum(is_same(*pair, exact) for pair in zip(found, expected, strict=True))
    if equal < (len(expected) if exact else LEAST_EQUAL * len(expected)):
        compared = "answers, with their scores," if exact else "answers"
        raise InputError(
            f"the export is not kept: only {equal} of {len(expected)} {compared} through it were the run's own"
        )
    return {"questions": len(expected), "equal": equal}


def is_same(found, expected, exact):
    """Whether two answers are equal; with `exact`, their scores as well."""
    (answer, score), (own, own_score) = found, expected
    if None in (score, own_score):  # A retrieved answer has none.
        alike = score is own_score
    else:
        alike = math.isclose(score, own_score, rel_tol=SCORES_DIFFER, abs_tol=SCORES_DIFFER)
    return answer == own and (alike or not exact)


def about_export(run, folder, kind, options, checked):
    """What `export.json` says: what the folder is, where it comes from, and its files."""
    training = load_tensors(run.path / WEIGHTS, run.id)[1]
    corpus = {name: run.corpus.get(name) for name in ("name", "fingerprint", "pairs", "licence")}
    versions = {name: importlib.metadata.version(name) for name in ("keras", "tensorflow")}
    versions |= {"keras_transformer": __version__, "python": platform.python_version()}
    return {
        "format": FORMAT,
        "kind": kind,
        "options": options,
        "made": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "versions": versions,
        "run": {"id": run.id, "config": run.config.to_dict(), "training": training},
        "corpus": corpus,
        "verified": checked,
        "files": {path.relative_to(folder).as_posix(): about_file(path) for path in files_of(folder)},
    }


def about_file(path):
    """Size and checksum of a file."""
    data = path.read_bytes()
    return {"bytes": len(data), "sha256": sha256(data)}


def files_of(folder):
    """All files below a folder in the order of their names, but `export.json` and what may change: corrections."""
    others = {folder / ABOUT, folder / CORRECTIONS}
    return sorted(path for path in folder.rglob("*") if path.is_file() and path not in others)


def write_about(folder, about):
    """Writes `export.json`."""
    write_json(folder / ABOUT, about)


def read_about(folder):
    """What `export.json` says; raises `InputError` if it is damaged, or a file is not the one that was written."""
    folder = pathlib.Path(folder)
    try:
        about = json.loads((folder / ABOUT).read_text("utf-8"))
        version, files = about["format"], about["files"].items()
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{folder / ABOUT}: damaged: {error}") from error
    if version != FORMAT:
        raise InputError(f"{folder / ABOUT}: of format {version}; this version reads format {FORMAT}")
    for name, file in files:
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: missing; export the run again")
        if about_file(folder / name) != file:
            raise InputError(f"{folder / name}: damaged, or changed since it was written; export the run again")
    return about
