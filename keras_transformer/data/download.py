"""Fetching a file over HTTP: resumed where it stopped, checked, and in its place only once it is whole."""

import contextlib
import dataclasses
import errno
import hashlib
import os
import pathlib
import shutil
import sys
import time

from keras_transformer.errors import DownloadFailed, InputError
from keras_transformer.runs.lock import lock_to_the_end

TIMEOUT = 30
"""Seconds without a byte after which a server counts as stalled."""

PAUSES = (1, 2, 4, 8)
"""Seconds between one try and the next."""

RANGE_NOT_THERE = 416
"""Status of HTTP for a file that is shorter than the part that is here."""

WORTH_ANOTHER_TRY = (408, RANGE_NOT_THERE, 425, 429, 500, 502, 503, 504)
"""Statuses of HTTP that may be gone at the next try."""

CHUNK = 1 << 16


@dataclasses.dataclass(frozen=True)
class RemoteFile:
    """A file that is known before it is here.

    Attributes:
        url: Where it is.
        size: Its bytes.
        sha256: Its SHA-256, in hex.
        name: What it is called.
    """

    url: str
    size: int
    sha256: str
    name: str

    def is_at(self, path):
        """Whether a path holds this very file."""
        path = pathlib.Path(path)
        return path.is_file() and path.stat().st_size == self.size and _sha256(path) == self.sha256


def fetch(file, path, timeout=TIMEOUT, pauses=PAUSES):
    """Downloads a file; does nothing if it is there already.

    What arrives stands beside `path` with the ending `.part`, and stays there when the download breaks off or the
    process is killed, so that the next call goes on from it. Proxies are those of the environment (`HTTPS_PROXY`).

    Args:
        file: The `RemoteFile`.
        path: Where it is to be; folders are made.
        timeout: Seconds without a byte after which the server counts as stalled.
        pauses: Seconds to wait after each failed try; the number of tries is one more.

    Raises:
        DownloadFailed: If the file cannot be had, or is not the one that was expected.
        InputError: If another process downloads it now, or another file is in its place.
        OSError: If it cannot be written.
    """
    path = pathlib.Path(path)
    if path.exists():
        _check_what_is_there(file, path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with open(part, "ab", buffering=0) as out:
        _hold(out, path)
        here = out.seek(0, os.SEEK_END)
        known = f", {here:,} of them here already" if here else ""
        print(f"{file.name}: {file.size:,} bytes from {file.url}{known} …", file=sys.stderr)
        _get_all(file, out, path, timeout, pauses)
    if not file.is_at(part):
        part.unlink()
        raise _failure(file, path, "what came is not the file that was expected (its size or SHA-256 differs)")
    os.replace(part, path)


def adopt(file, source, path):
    """Copies a file that was got by other means to where `fetch` would put it.

    Raises:
        InputError: If it is not that file.
    """
    if not file.is_at(source):
        raise InputError(f"{source}: is not {file.name} of {file.url}: its size or SHA-256 differs")
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        shutil.copyfile(source, beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _check_what_is_there(file, path):
    if not file.is_at(path):
        raise InputError(f"{path}: is not the file of {file.url} (its size or SHA-256 differs): remove it")


def _hold(out, path):
    """Keeps other processes from writing into the same `.part` file."""
    try:
        lock_to_the_end(out)
    except (BlockingIOError, PermissionError) as error:
        raise InputError(f"{path}: another process is downloading it; wait for that one") from error
    except OSError:  # Some file systems of computing clusters know no locks; there, the checksum is what protects.
        return


def _get_all(file, out, path, timeout, pauses):
    """Asks for what is missing until nothing is, or until the last try has failed."""
    import requests
    import urllib3

    for pause in (*pauses, None):
        try:
            _get_rest(file, out, timeout)
            return
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            reason = _reason(error, timeout)
            if pause is None or not _is_worth_another_try(error):
                raise _failure(file, path, reason) from error
        except OSError as error:  # Of writing, which names no file by itself.
            raise OSError(error.errno, error.strerror, out.name) from error
        print(f"{file.name}: {reason}; trying again in {pause} s …", file=sys.stderr)
        time.sleep(pause)


def _get_rest(file, out, timeout):
    """Appends to a file what it lacks, with a progress bar if standard error is a terminal."""
    import requests
    import tqdm
    import urllib3

    here = out.seek(0, os.SEEK_END)
    if here >= file.size:
        return
    # Not compressed on the way: a range counts the bytes of the file itself.
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={here}-"} if here else {})}
    with requests.get(file.url, headers=headers, stream=True, timeout=timeout) as response:
        if response.status_code == RANGE_NOT_THERE:
            out.truncate(0)
        response.raise_for_status()
        if not response.headers.get("Content-Range", "").startswith(f"bytes {here}-"):
            out.truncate(here := 0)  # The server knows no ranges and sends the whole.
        bar = {"total": file.size, "initial": here, "unit": "B", "unit_scale": True, "leave": False, "disable": None}
        with tqdm.tqdm(desc=file.name, **bar) as progress, contextlib.suppress(urllib3.exceptions.ProtocolError):
            # read1 gives what has come; the other ways wait for a whole chunk, and lose half of one if a server stalls.
            while chunk := response.raw.read1(CHUNK, decode_content=False):
                _write(out, chunk)
                progress.update(len(chunk))
                here += len(chunk)
                if here > file.size:
                    return
    if here < file.size:
        raise requests.ConnectionError(f"the connection ended after {here:,} of {file.size:,} bytes")


def _write(out, chunk):
    """Writes all of a chunk: an unbuffered file may take a part of it."""
    while chunk:
        chunk = chunk[out.write(chunk) :]


def _is_worth_another_try(error):
    """Whether it may be otherwise in a moment: a connection that breaks, a server that is busy."""
    import requests
    import urllib3

    if isinstance(error, requests.HTTPError):
        return error.response.status_code in WORTH_ANOTHER_TRY
    return isinstance(error, (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError))


def _reason(error, timeout):
    """Why a try failed, in a few words: those of the operating system, where they are in the chain of errors."""
    import requests
    import urllib3

    if isinstance(error, requests.HTTPError):
        return f"the server says {error.response.status_code} {error.response.reason}"
    if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError)):
        return f"no answer for {timeout:g} s"
    deeper = error
    while deeper:
        if isinstance(deeper, OSError) and deeper.errno is not None:
            return deeper.strerror
        deeper = deeper.__cause__ or deeper.__context__
    return str(error)


def _failure(file, path, reason):
    advice = f"get it by other means and put it at {path}, or name it with --from FILE"
    return DownloadFailed(errno.EIO, f"{file.url}: {reason}; try again later, or {advice}")


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
