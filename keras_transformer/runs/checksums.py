"""The checksums of a run folder, which detect damaged files, and files of another run or of another state of the run.

`checksums.json` holds the SHA-256 of every file of a run's state. Before a file is replaced, its new checksum is added
to the old one; afterwards, the old one is removed. A process may therefore be killed at any moment: the file on the
disk always has one of the checksums. `null` stands for no file.

Folders without `checksums.json`, such as exports and runs of earlier versions, are not checked.
"""

import contextlib
import hashlib
import json
import pathlib

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import json_bytes, replacing, sha256

CHECKSUMS = "checksums.json"
FORMAT = 1


@contextlib.contextmanager
def recording(path, size):
    """Context manager like `replacing`, which also records the checksum of the new file. Needs the lock of the run."""
    path = pathlib.Path(path)
    with (
        _changing(path) as announce,
        replacing(path, size, lambda temporary: announce(sha256_of_file(temporary))) as file,
    ):
        yield file


def write_recorded(path, data):
    """Writes bytes to a file atomically, and records its checksum."""
    with recording(path, len(data)) as file:
        file.write(data)


def write_json_recorded(path, value):
    """Writes a value as indented JSON, atomically, and records its checksum."""
    write_recorded(path, json_bytes(value))


def remove_recorded(path):
    """Removes a file, if it exists, and its checksum."""
    path = pathlib.Path(path)
    if not path.exists():
        return
    with _changing(path) as announce:
        announce(None)
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _changing(path):
    """Yields a function that announces the next checksum of a file; it becomes the only one if the block succeeds."""
    if not (path.parent / CHECKSUMS).is_file():
        yield lambda checksum: None
        return
    run_id, files = read_checksums(path.parent)
    announced = []

    def announce(checksum):
        announced.append(checksum)
        _write(path.parent, run_id, {**files, path.name: [*files.get(path.name, [None]), checksum]})

    yield announce
    _write(path.parent, run_id, {**files, path.name: announced})


def begin_checksums(folder, run_id, checksums):
    """Writes the checksums of a run that has none, a dictionary by file name."""
    _write(pathlib.Path(folder), run_id, {name: [checksum] for name, checksum in checksums.items()})


def check(path, run_id=None, required=False):
    """Compares a file with its recorded checksum. It reads the file, which may be written at the same time.

    Args:
        path: A file of a run folder, which may be missing.
        run_id: The id of the run, if it is known.
        required: Whether a file with a checksum must exist.

    Raises:
        InputError: If the file or `checksums.json` is damaged, or of another run or state, or a required file misses.
    """
    path, before = pathlib.Path(path), None
    while (path.parent / CHECKSUMS).is_file():
        owner, files = read_checksums(path.parent)
        if run_id not in (None, owner):
            raise InputError(_("{path}: belongs to another run", path=path.parent / CHECKSUMS))
        allowed = files.get(path.name, [None])
        checksum = sha256_of_file(path)
        if checksum in allowed or (checksum is None and not required):
            return
        if allowed == before:  # Else it was replaced in the meantime.
            raise InputError(_fault(path, checksum))
        before = allowed


def check_all(folder, run_id, names):
    """Compares all files of a run with their checksums; raises `InputError` like `check`.

    Args:
        folder: The run folder.
        run_id: The id of the run.
        names: The names of files of a run that exist in the folder. Those without a checksum are of another run.
    """
    folder = pathlib.Path(folder)
    if not (folder / CHECKSUMS).is_file():
        return
    for name in sorted({*names, *read_checksums(folder)[1]}):
        check(folder / name, run_id, required=True)


def read_checksums(folder):
    """Returns the id of the run and a dictionary from file names to lists of allowed checksums.

    Raises:
        InputError: If `checksums.json` is damaged.
    """
    path = pathlib.Path(folder) / CHECKSUMS
    about = read_sealed(path)
    if about.get("format") != FORMAT:
        raise InputError(_("{path}: damaged: {error}", path=path, error=f"format {about.get('format')}"))
    return about["run"], about["files"]


def read_sealed(path, unsealed=()):
    """Returns the JSON object of a file written as `sealed`, without its checksum.

    Args:
        path: The file.
        unsealed: The keys of such files of earlier versions, which contain no checksum.

    Raises:
        InputError: If the file is damaged.
    """
    try:
        data = pathlib.Path(path).read_bytes()
        about = json.loads(data)
        if {*about} != {*unsealed}:
            about.pop("sha256")
            if data != sealed(about):
                raise ValueError(_("the checksum differs"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error
    return about


def sealed(about):
    """Returns a JSON object as the content of a file, which contains its own checksum."""
    return json_bytes({**about, "sha256": sha256(json_bytes(about))})


def _write(folder, run_id, files):
    data = _content(run_id, files)
    # File systems keep the order of renames: where the file is new after a power cut, so is what announced it.
    with replacing(folder / CHECKSUMS, len(data), sync=False) as file:
        file.write(data)


def _content(run_id, files):
    """Returns the content of `checksums.json`."""
    files = {name: allowed for name, allowed in sorted(files.items()) if allowed != [None]}
    return sealed({"format": FORMAT, "run": run_id, "files": files})


def sha256_of_file(path):
    """Returns the SHA-256 of a file in hexadecimal; None if there is no file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(_("{path}: cannot be read: {reason}", path=path, reason=error.strerror)) from error


def _fault(path, checksum):
    if checksum is None:
        return _(
            "{path}: missing. Copy the whole run folder again. If you removed the file yourself, remove {checksums}.",
            path=path,
            checksums=CHECKSUMS,
        )
    return _(
        "{path}: damaged, or of another run or another state of the run: its checksum differs. Copy the whole run "
        "folder again. If you changed the file yourself, remove {checksums}.",
        path=path,
        checksums=CHECKSUMS,
    )
