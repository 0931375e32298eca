"""Downloading, from a server that behaves and from servers that do not."""

import hashlib
import os
import socket
import subprocess
import sys
import time

import pytest

from keras_transformer.data.download import RemoteFile, adopt, fetch
from keras_transformer.errors import DownloadFailed, InputError
from keras_transformer.runs.lock import lock_file

HALF = 5120  # Of the 10,240 bytes that the server has.


@pytest.fixture
def file(server):
    return RemoteFile(server.url, len(server.content), hashlib.sha256(server.content).hexdigest(), "말뭉치.bin")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "받은 것" / "말뭉치.bin"


def part_of(path):
    return path.with_name(f"{path.name}.part")


def get(file, path, tries=1, timeout=60):
    fetch(file, path, timeout, retries=tries - 1, backoff=0)


def failure(file, path, tries=1):
    """What the failure says, which is one line with the address and with advice."""
    with pytest.raises(DownloadFailed) as caught:
        get(file, path, tries)
    text = caught.value.strerror
    assert text.startswith(f"{file.url}: ")
    advice = f"try again later, or download it in another way to {path}, or name a copy with --from FILE"
    assert text.endswith(f"; {advice}")
    assert "\n" not in text
    assert not path.exists()
    return text.removeprefix(f"{file.url}: ").split("; ")[0]


def test_a_file_comes_whole(server, file, path):
    get(file, path)
    assert path.read_bytes() == server.content
    assert os.listdir(path.parent) == [path.name]
    assert server.ranges == [None]
    assert server.encodings == ["identity"]


def test_what_is_there_is_not_asked_for_again(server, file, path):
    get(file, path)
    get(file, path)
    assert len(server.ranges) == 1


@pytest.mark.parametrize("way", ["cut", "cut_without_saying_the_length", "stall"])
def test_what_breaks_off_goes_on_where_it_stopped(server, file, path, way, capsys):
    server.plan = [way]
    get(file, path, tries=2, timeout=3 if way == "stall" else 60)
    assert path.read_bytes() == server.content
    assert server.ranges == [None, f"bytes={HALF}-"]
    _, line = capsys.readouterr().err.splitlines()
    reason = "no answer for 3 s" if way == "stall" else "the connection ended after 5,120 of 10,240 bytes"
    assert line == f"말뭉치.bin: {reason}; trying again in 0 s …"


def test_a_server_without_ranges_sends_the_whole_again(server, file, path):
    server.plan = ["cut", "without_ranges"]
    get(file, path, tries=2)
    assert path.read_bytes() == server.content


def test_the_part_stays_for_the_next_call(server, file, path, capsys):
    server.plan = ["cut"]
    assert failure(file, path) == "the connection ended after 5,120 of 10,240 bytes"
    server.plan = [503]
    assert failure(file, path) == "the server returned 503 Service Unavailable"
    assert part_of(path).read_bytes() == server.content[:HALF]
    capsys.readouterr()
    get(file, path)
    assert server.ranges == [None, f"bytes={HALF}-", f"bytes={HALF}-"]
    assert path.read_bytes() == server.content
    line = f"말뭉치.bin: 10,240 bytes from {file.url}, 5,120 already downloaded …\n"
    assert capsys.readouterr().err == line


def test_a_process_that_was_killed_goes_on_where_it_stopped(server, file, path):
    server.plan = ["stall"]
    code = f"from keras_transformer.data.download import RemoteFile, fetch\nfetch({file!r}, {str(path)!r})"
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 300
    while not (part_of(path).exists() and part_of(path).stat().st_size == HALF):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    get(file, path)
    assert server.ranges == [None, f"bytes={HALF}-"]
    assert path.read_bytes() == server.content


def test_a_whole_part_needs_no_server(server, file, path):
    path.parent.mkdir()
    part_of(path).write_bytes(server.content)
    get(file, path)
    assert path.read_bytes() == server.content
    assert server.ranges == []


def test_a_part_of_another_file_is_given_up(server, file, path):
    path.parent.mkdir()
    part_of(path).write_bytes(b"x" * HALF)
    assert failure(file, path).startswith("the downloaded file is not the expected one")
    assert not part_of(path).exists()
    get(file, path)
    assert path.read_bytes() == server.content


@pytest.mark.parametrize("content", [b"<html>Log in, please</html>" * 400, b"\0" * 10_240])
def test_other_content_is_refused(server, file, path, content):
    server.content = content
    assert failure(file, path).startswith("the downloaded file is not the expected one (its size or SHA-256 differs)")
    assert os.listdir(path.parent) == []


def test_content_without_end_is_not_read_to_the_end(server, file, path):
    server.plan = ["without_end"]
    assert failure(file, path).startswith("the downloaded file is not the expected one")


def test_content_that_is_too_short_is_asked_for_once_more_and_refused(server, file, path):
    server.content = b"short"
    assert failure(file, path, tries=3) == "the connection ended after 5 of 10,240 bytes"
    assert server.ranges == [None, "bytes=5-", None]


def test_a_missing_page_is_asked_for_once(server, file, path):
    server.plan = [404, 404]
    assert failure(file, path, tries=2) == "the server returned 404 Not Found"
    assert len(server.ranges) == 1


def test_a_busy_server_is_asked_again(server, file, path, capsys):
    server.plan = [503, 503]
    get(file, path, tries=3)
    assert path.read_bytes() == server.content
    assert capsys.readouterr().err.count("the server returned 503 Service Unavailable; trying again") == 2


def test_a_server_that_says_when_to_come_back_is_believed(server, file, path, capsys, monkeypatch):
    pauses = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", pauses.append)
    server.plan = ["too_many_requests", 503]
    get(file, path, tries=3)
    assert path.read_bytes() == server.content
    assert pauses == [1]  # The second pause is the backoff of this test, which is 0.
    _, first, second = capsys.readouterr().err.splitlines()
    assert first == "말뭉치.bin: the server returned 429 Too Many Requests; trying again in 1 s …"
    assert second == "말뭉치.bin: the server returned 503 Service Unavailable; trying again in 0 s …"


def test_no_server_makes_us_wait_for_ever(server, file, path, monkeypatch):
    pauses = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", pauses.append)
    server.plan = ["come_back_in_an_eternity", "come_back_when_no_number_says"]
    get(file, path, tries=3)
    assert pauses == [600, 600]


def test_failed_requests_and_interruptions_are_counted_together(server, file, path):
    server.plan = ["cut", 503, "cut", "cut"]
    assert failure(file, path, tries=4) == "the connection ended after 5,120 of 10,240 bytes"
    assert server.ranges == [None, *[f"bytes={HALF}-"] * 3]


def test_pauses_grow(server, file, path, monkeypatch):
    pauses = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", pauses.append)
    server.plan = [503, "cut", 503, 503]
    fetch(file, path)
    assert pauses == [2, 4, 8]
    assert path.read_bytes() == server.content


def test_nobody_there(path):
    with socket.socket() as closed:  # Bound, so that no other process listens there, but not listening itself.
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/a"
        assert failure(RemoteFile(url, 1, "", "a"), path, tries=2) == "Connection refused"


def test_an_address_that_is_none_is_no_matter_of_waiting(path):
    assert failure(RemoteFile("nowhere", 1, "", "a"), path, tries=2).startswith("Invalid URL 'nowhere'")


def test_the_environments_proxy_is_used(server, file, path, monkeypatch):
    monkeypatch.setenv("http_proxy", server.url)
    there = RemoteFile("http://corpora.invalid/a", file.size, file.sha256, "a")
    get(there, path)
    assert path.read_bytes() == server.content


def test_a_folder_that_cannot_be_written(file, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        get(file, tmp_path / "file" / "말뭉치.bin")


def test_a_full_disk_is_named_and_what_has_come_stays(server, file, path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (HALF, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            get(file, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(part_of(path))
    get(file, path)
    assert server.ranges == [None, f"bytes={HALF}-"]
    assert path.read_bytes() == server.content


def test_one_process_at_a_time(file, path):
    path.parent.mkdir()
    with open(part_of(path), "ab") as held:
        assert lock_file(held)
        with pytest.raises(InputError, match="another process is downloading it"):
            get(file, path)


def test_another_file_in_its_place_is_not_replaced(server, file, path):
    path.parent.mkdir()
    path.write_text("mine")
    with pytest.raises(InputError, match=r"is not the file of .*: remove it"):
        get(file, path)
    assert path.read_text() == "mine"
    assert server.ranges == []


def test_a_file_got_by_other_means(server, file, path, tmp_path):
    (tmp_path / "손으로.bin").write_bytes(server.content)
    adopt(file, tmp_path / "손으로.bin", path)
    assert path.read_bytes() == server.content
    assert os.listdir(path.parent) == [path.name]
    assert server.ranges == []


def test_a_wrong_file_got_by_other_means(file, path, tmp_path):
    (tmp_path / "손으로.bin").write_bytes(b"else")
    with pytest.raises(InputError, match=r"손으로.bin: is not 말뭉치.bin of http"):
        adopt(file, tmp_path / "손으로.bin", path)
    assert not path.exists()
