"""HTTP downloads that are resumable, verified, and moved to their place only when complete."""

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
from keras_transformer.runs.lock import lock_file

TIMEOUT = 30
"""Seconds without data after which a connection times out."""

PAUSES = (1, 2, 4, 8)
"""Seconds between retries."""

RANGE_NOT_THERE = 416
"""HTTP status if the file is shorter than the bytes already downloaded."""

WORTH_ANOTHER_TRY = (408, RANGE_NOT_THERE, 425, 429, 500, 502, 503, 504)
"""HTTP statuses that are worth a retry."""

CHUNK = 1 << 16


@dataclasses.dataclass(frozen=True)
class RemoteFile:
    """A file to download, with its expected size and checksum.

    Attributes:
        url: URL of the file.
        size: Size in bytes.
        sha256: SHA-256 in hexadecimal.
        name: File name.
    """

    url: str
    size: int
    sha256: str
    name: str

    def is_at(self, path):
        """Returns whether a path contains this file, by size and SHA-256."""
        path = pathlib.Path(path)
        return path.is_file() and path.stat().st_size == self.size and _sha256(path) == self.sha256


def fetch(file, path, timeout=TIMEOUT, pauses=PAUSES):
    """Downloads a file if it does not exist.

    Received data is written to `path` with the suffix `.part`, which is kept if the download fails or the process is
    killed, so that the next call resumes the download. Proxies are read from the environment (`HTTPS_PROXY`).

    Args:
        file: The `RemoteFile`.
        path: Target path; missing folders are created.
        timeout: Seconds without data after which the connection times out.
        pauses: Seconds to wait after each failed attempt; there is one more attempt than pauses.

    Raises:
        DownloadFailed: If the file cannot be downloaded, or is not the expected one.
        InputError: If another process is downloading it, or `path` is another file.
        OSError: If it cannot be written.
    """
    path = pathlib.Path(path)
    if path.exists():
        _check_existing_file(file, path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with open(part, "ab", buffering=0) as out:
        _lock(out, path)
        received = out.seek(0, os.SEEK_END)
        resumed = f", {received:,} already downloaded" if received else ""
        print(f"{file.name}: {file.size:,} bytes from {file.url}{resumed} …", file=sys.stderr)
        _get_all(file, out, path, timeout, pauses)
    if not file.is_at(part):
        part.unlink()
        raise _failure(file, path, "the downloaded file is not the expected one (its size or SHA-256 differs)")
    os.replace(part, path)


def adopt(file, source, path):
    """Copies a file that was downloaded in another way to the target path of `fetch`.

    Raises:
        InputError: If it is not the expected file.
    """
    if not file.is_at(source):
        raise InputError(f"{source}: is not {file.name} of {file.url}: its size or SHA-256 differs")
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        shutil.copyfile(source, temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _check_existing_file(file, path):
    if not file.is_at(path):
        raise InputError(f"{path}: is not the file of {file.url} (its size or SHA-256 differs): remove it")


def _lock(out, path):
    """Locks the `.part` file against other processes."""
    with contextlib.suppress(OSError):  # Some file systems of clusters have no locks; the checksum detects damage.
        if not lock_file(out):
            raise InputError(f"{path}: another process is downloading it; wait for that one")


def _get_all(file, out, path, timeout, pauses):
    """Downloads the remaining bytes with retries."""
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
        except OSError as error:  # Errors while writing do not name the file.
            raise OSError(error.errno, error.strerror, out.name) from error
        print(f"{file.name}: {reason}; trying again in {pause} s …", file=sys.stderr)
        time.sleep(pause)


def _get_rest(file, out, timeout):
    """Appends the remaining bytes to a file, with a progress bar if standard error is a terminal."""
    import requests
    import tqdm
    import urllib3

    received = out.seek(0, os.SEEK_END)
    if received >= file.size:
        return
    # No compression, because a range counts the bytes of the uncompressed file.
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={received}-"} if received else {})}
    with requests.get(file.url, headers=headers, stream=True, timeout=timeout) as response:
        if response.status_code == RANGE_NOT_THERE:
            out.truncate(0)
        response.raise_for_status()
        if not response.headers.get("Content-Range", "").startswith(f"bytes {received}-"):
            out.truncate(received := 0)  # The server does not support ranges and sends the whole file.
        progress = tqdm.tqdm(
            desc=file.name, total=file.size, initial=received, unit="B", unit_scale=True, leave=False, disable=None
        )
        with progress, contextlib.suppress(urllib3.exceptions.ProtocolError):
            # read1 returns the bytes received so far. Other methods wait for a full chunk and lose it on a timeout.
            while chunk := response.raw.read1(CHUNK, decode_content=False):
                _write(out, chunk)
                progress.update(len(chunk))
                received += len(chunk)
                if received > file.size:
                    return
    if received < file.size:
        raise requests.ConnectionError(f"the connection ended after {received:,} of {file.size:,} bytes")


def _write(out, chunk):
    """Writes a whole chunk, because a single write to an unbuffered file may be incomplete."""
    while chunk:
        chunk = chunk[out.write(chunk) :]


def _is_worth_another_try(error):
    """Returns whether an error may be temporary, such as a lost connection or a busy server."""
    import requests
    import urllib3

    if isinstance(error, requests.HTTPError):
        return error.response.status_code in WORTH_ANOTHER_TRY
    return isinstance(error, (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError))


def _reason(error, timeout):
    """Returns a short reason for an error: the operating system's message if the chain of errors contains one."""
    import requests
    import urllib3

    if isinstance(error, requests.HTTPError):
        return f"the server returned {error.response.status_code} {error.response.reason}"
    if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError)):
        return f"no answer for {timeout:g} s"
    cause = error
    while cause:
        if isinstance(cause, OSError) and cause.errno is not None:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return str(error)


def _failure(file, path, reason):
    advice = f"download it in another way to {path}, or name a copy with --from FILE"
    return DownloadFailed(errno.EIO, f"{file.url}: {reason}; try again later, or {advice}")


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
