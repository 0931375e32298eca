"""Trained runs to download by name: verified, unpacked among the downloaded data, and used from there.

`released_runs.tsv` lists them; `release/pack_run.py` makes the ZIP file of a run, with its row of the list.
"""

import os
import pathlib
import re
import shutil
import stat
import zipfile

from keras_transformer.data.catalog import data_home
from keras_transformer.data.download import RemoteFile, fetch
from keras_transformer.errors import InputError
from keras_transformer.language import translate as _
from keras_transformer.runs.atomic_io import write_atomically
from keras_transformer.runs.lock import lock_file

TABLE = pathlib.Path(__file__).with_name("released_runs.tsv")
MOST_FILES = 100
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""Names of the files of a run folder, which has no subfolders."""


def released_runs():
    """Returns the runs that can be downloaded, a dictionary of `RemoteFile`s by the names of the runs."""
    rows = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {name: RemoteFile(url, int(size), sha256, f"{name}.zip") for name, url, size, sha256 in rows}


def download_run(name):
    """Downloads a released run, unless it was downloaded before, and returns its folder.

    Raises:
        DownloadFailed: If it cannot be downloaded.
        InputError: If the ZIP file is not one of a run, or another process is downloading it.
        OSError: If it cannot be written.
    """
    file = released_runs()[name]
    folder = data_home() / "runs" / file.sha256[:12] / name  # A newer version of the run is another one.
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / "lock", "ab") as lock:
        if not lock_file(lock):
            raise InputError(_("{name}: another process is preparing it; wait for it", name=name))
        if not folder.is_dir():
            archive = folder.parent / file.name
            fetch(file, archive)
            unpack(archive, folder)
            archive.unlink()
    return folder


def unpack(archive, folder):
    """Unpacks the ZIP file of a run into a new folder, which is moved to its place when it is complete.

    Raises:
        InputError: If the file is damaged, or holds something other than the files of a run.
        OSError: If the folder cannot be written.
    """
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # Of a process that was killed.
    part.mkdir()
    try:
        with zipfile.ZipFile(archive) as contents:
            entries = contents.infolist()
            check_entries(entries, archive.stat().st_size)
            for entry in entries:
                write_atomically(part / entry.filename, contents.read(entry))
        os.replace(part, folder)
    except (zipfile.BadZipFile, EOFError, RuntimeError, ValueError) as error:
        raise InputError(_("{path}: damaged: {error}", path=archive, error=error)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def check_entries(entries, size):
    """Raises `ValueError` unless the entries of a ZIP file are those that `release/pack_run.py` writes.

    They are stored, not compressed, so together they are not larger than the ZIP file.

    Args:
        entries: The `zipfile.ZipInfo`s.
        size: The size of the ZIP file in bytes.
    """
    if len(entries) > MOST_FILES or len({entry.filename for entry in entries}) < len(entries):
        raise ValueError("too many files, or several of one name")
    if sum(entry.file_size for entry in entries) > size:
        raise ValueError("its files are larger than it")
    for entry in entries:
        if not FILE_NAME.fullmatch(entry.filename) or stat.S_ISLNK(entry.external_attr >> 16):
            raise ValueError(f"{entry.filename!r} is not the name of a file of a run")
        if entry.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"{entry.filename} is compressed")
