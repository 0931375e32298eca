"""HTTP downloads that are resumable, verified, and moved to their place only when complete."""

import contextlib
import dataclasses
import errno
import hashlib
import os
import pathlib
import shutil
import sys

from keras_transformer.errors import DownloadFailed, InputError
from keras_transformer.language import translate as _
from keras_transformer.printable import printable_line
from keras_transformer.runs.lock import lock_file

TIMEOUT = 30
"""Seconds without data after which a connection times out."""

RETRIES = 4
"""Number of retries after failed requests and interrupted connections."""

BACKOFF = 1
"""Factor of the pauses between retries: no pause before the first, then 2, 4 and 8 times so many seconds."""

LONGEST_PAUSE = 600
"""Maximum number of seconds before a retry, whatever the server asks for."""

RANGE_NOT_SATISFIABLE = 416
"""HTTP status if the file is shorter than the bytes already downloaded."""

RETRIED_STATUSES = (408, 425, 429, 500, 502, 503, 504)
"""HTTP statuses that are worth a retry of the same request."""

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


def fetch(file, path, timeout=TIMEOUT, retries=RETRIES, backoff=BACKOFF):
    """Downloads a file if it does not exist.

    Received data is written to `path` with the suffix `.part`, which is kept if the download fails or the process is
    killed, so that the next call resumes the download. Proxies are read from the environment (`HTTPS_PROXY`). A server
    may set the pause before a retry (`Retry-After`).

    Args:
        file: The `RemoteFile`.
        path: Target path; missing folders are created.
        timeout: Seconds without data after which the connection times out.
        retries: Number of retries after failed requests and interrupted connections.
        backoff: Factor of the pauses between retries.

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
        message = _("{name}: {size:,} bytes from {url} …", name=file.name, size=file.size, url=file.url)
        if received:
            message = _(
                "{name}: {size:,} bytes from {url}, {received:,} already downloaded …",
                name=file.name,
                size=file.size,
                url=file.url,
                received=received,
            )
        print(printable_line(message), file=sys.stderr)
        _get_all(file, out, path, timeout, _retry_policy(file, timeout, retries, backoff))
    if not file.is_at(part):
        part.unlink()
        raise _failure(file, path, _("the downloaded file is not the expected one (its size or SHA-256 differs)"))
    os.replace(part, path)


def adopt(file, source, path):
    """Copies a file that was downloaded in another way to the target path of `fetch`.

    Raises:
        InputError: If it is not the expected file.
    """
    if not file.is_at(source):
        raise InputError(
            _(
                "{source}: is not {name} of {url}: its size or SHA-256 differs",
                source=source,
                name=file.name,
                url=file.url,
            )
        )
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
        raise InputError(
            _("{path}: is not the file of {url} (its size or SHA-256 differs): remove it", path=path, url=file.url)
        )


def _lock(out, path):
    """Locks the `.part` file against other processes."""
    with contextlib.suppress(OSError):  # Some file systems of clusters have no locks; the checksum detects damage.
        if not lock_file(out):
            raise InputError(_("{path}: another process is downloading it; wait for that one", path=path))


def _retry_policy(file, timeout, retries, backoff):
    """Returns the `urllib3.Retry` that counts the retries of a download, prints each of them, and pauses."""
    import urllib3

    class PrintedRetry(urllib3.Retry):
        def get_retry_after(self, response):
            try:
                pause = super().get_retry_after(response)
            except (ValueError, OverflowError):  # A number of thousands of digits, or a date beyond the calendar.
                return LONGEST_PAUSE
            return pause and min(pause, LONGEST_PAUSE)

        def sleep(self, response=None):
            if response:
                reason, pause = _status(response.status, response.reason), self.get_retry_after(response)
            else:
                reason, pause = _reason(self.history[-1].error, timeout), None
            pause = pause or self.get_backoff_time()
            message = _("{name}: {reason}; trying again in {pause:.0f} s …", name=file.name, reason=reason, pause=pause)
            print(printable_line(message), file=sys.stderr)
            super().sleep(response)

    return PrintedRetry(
        retries, allowed_methods=["GET"], status_forcelist=RETRIED_STATUSES, backoff_factor=backoff,
        respect_retry_after_header=True, raise_on_status=False,
    )  # fmt: skip


def _get_all(file, out, path, timeout, retry):
    """Downloads the remaining bytes. `retry` repeats failed requests; interrupted bodies are resumed here."""
    import requests
    import urllib3

    try:
        while (received := out.seek(0, os.SEEK_END)) < file.size:
            try:
                with _session(retry) as session, _request(session, file, received, timeout) as response:
                    retry = response.raw.retries  # The retries of this request are counted.
                    _append_body(file, out, received, response)
            except urllib3.exceptions.HTTPError as error:
                retry = retry.increment("GET", file.url, error=error)
                retry.sleep()
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise _failure(file, path, _reason(error, timeout)) from error
    except OSError as error:  # Errors while writing do not name the file.
        raise OSError(error.errno, error.strerror, out.name) from error


def _session(retry):
    """Returns a `requests.Session` whose requests are repeated by a `urllib3.Retry`."""
    import requests

    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=retry))
    return session


def _request(session, file, received, timeout):
    """Requests the bytes of a file after the received ones."""
    # No compression, because a range counts the bytes of the uncompressed file.
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={received}-"} if received else {})}
    return session.get(file.url, headers=headers, stream=True, timeout=timeout)


def _append_body(file, out, received, response):
    """Appends the bytes of a response, with a progress bar if standard error is a terminal.

    Raises:
        urllib3.exceptions.HTTPError: If bytes are missing, so that another request is worth it.
        requests.HTTPError: If the server returned another error.
    """
    import tqdm
    import urllib3

    if response.status_code == RANGE_NOT_SATISFIABLE:
        out.truncate(0)
        raise urllib3.exceptions.ProtocolError(_status(response.status_code, response.reason))
    response.raise_for_status()
    if not response.headers.get("Content-Range", "").startswith(f"bytes {received}-"):
        out.truncate(received := 0)  # The server does not support ranges and sends the whole file.
    progress = tqdm.tqdm(
        desc=file.name, total=file.size, initial=received, unit="B", unit_scale=True, leave=False, disable=None
    )
    with progress, contextlib.suppress(urllib3.exceptions.ProtocolError):
        # read1 returns the bytes received so far. Other methods wait for a full chunk and lose it on a timeout.
        while received <= file.size and (chunk := response.raw.read1(CHUNK, decode_content=False)):
            _write(out, chunk)
            progress.update(len(chunk))
            received += len(chunk)
    if received < file.size:
        raise urllib3.exceptions.ProtocolError(f"the connection ended after {received:,} of {file.size:,} bytes")


def _write(out, chunk):
    """Writes a whole chunk, because a single write to an unbuffered file may be incomplete."""
    while chunk:
        chunk = chunk[out.write(chunk) :]


def _reason(error, timeout):
    """Returns a short reason for an error: the operating system's message if the chain of errors contains one."""
    import requests
    import urllib3

    if isinstance(error, requests.HTTPError):
        return _status(error.response.status_code, error.response.reason)
    if isinstance(error, urllib3.exceptions.MaxRetryError):
        error = error.reason
    causes = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    for cause in causes:
        if isinstance(cause, OSError) and cause.errno is not None:
            return cause.strerror
    if any(isinstance(cause, (requests.Timeout, urllib3.exceptions.TimeoutError)) for cause in causes):
        return _("no answer for {timeout:g} s", timeout=timeout)
    return str(error)


def _status(status, reason):
    return _("the server returned {status} {reason}", status=status, reason=reason)


def _failure(file, path, reason):
    message = _(
        "{url}: {reason}; try again later, or download it in another way to {path}, or name a copy with --from FILE",
        url=file.url,
        reason=reason,
        path=path,
    )
    failure = DownloadFailed(errno.EIO, message)
    failure.reason = reason
    return failure


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
