"""Released runs: downloaded once, verified, and unpacked with nothing but the files of a run."""

import hashlib
import io
import os
import stat
import zipfile

import pytest

from keras_transformer.data import released_runs
from keras_transformer.data.released_runs import MOST_FILES, download_run
from keras_transformer.errors import DownloadFailed, InputError
from keras_transformer.runs.lock import lock_file

FILES = {"config.json": b"{}", "weights.safetensors": bytes(range(256)) * 40}


def zipped(*files, **settings):
    """Returns the bytes of a ZIP file with pairs of a name, or a `ZipInfo`, and a content."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files:
            archive.writestr(name, content, **settings)
    return data.getvalue()


def link(name, target):
    """Returns the entry of a ZIP file that is a symbolic link, with its content."""
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry, target


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The folder of what is downloaded."""
    monkeypatch.setenv("KERAS_TRANSFORMER_DATA", str(tmp_path / "둔 곳"))
    return tmp_path / "둔 곳"


@pytest.fixture
def release(server, home, tmp_path, monkeypatch):
    """A function that publishes bytes as the run `talk` on this machine, and returns the folder that it will have."""

    def release(content):
        server.content = content
        checksum = hashlib.sha256(content).hexdigest()
        table = tmp_path / "released_runs.tsv"
        table.write_text(f"# name\ntalk\t{server.url}\t{len(content)}\t{checksum}\n", encoding="utf-8")
        monkeypatch.setattr(released_runs, "TABLE", table)
        return home / "runs" / checksum[:12] / "talk"

    return release


def test_every_released_run_has_an_address_and_a_checksum():
    for name, file in released_runs.released_runs().items():
        assert file.name == f"{name}.zip"
        assert file.url.startswith("https://") and file.url.endswith(f"/{file.name}")
        assert len(bytes.fromhex(file.sha256)) == 32
        assert file.size > 0


def test_a_run_is_downloaded_once_and_unpacked(release, server, capsys):
    folder = release(zipped(*FILES.items()))
    assert [download_run("talk") for _ in range(2)] == [folder, folder]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
    assert server.ranges == [None]
    assert sorted(os.listdir(folder.parent)) == ["lock", "talk"]
    assert capsys.readouterr().err.startswith("talk.zip: ")


def test_what_was_changed_in_the_folder_stays(release):
    folder = release(zipped(*FILES.items()))
    download_run("talk")
    (folder / "corrections.jsonl").write_text("taught")
    assert (download_run("talk") / "corrections.jsonl").read_text() == "taught"


def test_a_newer_version_is_another_folder(release):
    old = release(zipped(*FILES.items()))
    download_run("talk")
    new = release(zipped(*FILES.items(), ("summary.json", b"{}")))
    assert download_run("talk") == new != old
    assert (old / "config.json").exists() and (new / "summary.json").exists()


def test_other_bytes_are_refused(release, server, home):
    folder = release(zipped(*FILES.items()))
    server.content = bytes(len(server.content))
    with pytest.raises(DownloadFailed) as caught:
        download_run("talk")
    assert caught.value.reason == "the downloaded file is not the expected one (its size or SHA-256 differs)"
    assert not folder.exists()


def test_a_download_that_breaks_off_is_resumed(release, server):
    folder = release(zipped(*FILES.items()))
    server.plan = ["cut"]
    download_run("talk")
    assert server.ranges == [None, f"bytes={len(server.content) // 2}-"]
    assert (folder / "weights.safetensors").read_bytes() == FILES["weights.safetensors"]


def test_what_a_killed_process_left_is_removed(release):
    folder = release(zipped(*FILES.items()))
    part = folder.with_name("talk.part")
    part.mkdir(parents=True)
    (part / "half.json").write_text("{")
    download_run("talk")
    assert {path.name for path in folder.iterdir()} == set(FILES)
    assert not part.exists()


def test_one_process_at_a_time(release):
    folder = release(zipped(*FILES.items()))
    folder.parent.mkdir(parents=True)
    with open(folder.parent / "lock", "ab") as held:
        assert lock_file(held)
        with pytest.raises(InputError, match="talk: another process is preparing it"):
            download_run("talk")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (zipped(("../config.json", b"{}")), "'../config.json' is not the name of a file of a run"),
        (zipped(("/tmp/config.json", b"{}")), "'/tmp/config.json' is not the name of a file of a run"),
        (zipped(("..", b"{}")), "'..' is not the name of a file of a run"),
        (zipped(("C:config.json", b"{}")), "'C:config.json' is not the name of a file of a run"),
        (zipped(("..\\config.json", b"{}")), r"'..\\config.json' is not the name of a file of a run"),
        (zipped(("logs/events", b"")), "'logs/events' is not the name of a file of a run"),
        (zipped(("logs/", b"")), "'logs/' is not the name of a file of a run"),
        (zipped(link("config.json", "/etc/passwd")), "'config.json' is not the name of a file of a run"),
        (zipped(*((f"{i}.json", b"{}") for i in range(MOST_FILES + 1))), "too many files, or several of one name"),
        (zipped(("a", bytes(10**6)), compress_type=zipfile.ZIP_DEFLATED), "its files are larger than it"),
        (zipped(("a", b"ab"), compress_type=zipfile.ZIP_DEFLATED), "a is compressed"),
        (b"<html>Log in, please</html>", "File is not a zip file"),
        (zipped(*FILES.items()).replace(bytes(range(256)), bytes(256), 1), "Bad CRC-32 for file 'weights.safetensors'"),
    ],
)
def test_what_is_not_a_run_is_not_unpacked(release, tmp_path, content, reason):
    folder = release(content)
    with pytest.raises(InputError) as caught:
        download_run("talk")
    assert str(caught.value) == f"{folder.with_name('talk.zip')}: damaged: {reason}"
    assert not folder.exists()
    assert not list(tmp_path.rglob("config.json"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_not_unpacked(release):
    folder = release(zipped(("config.json", b"{}"), ("config.json", b"[]")))
    with pytest.raises(InputError, match="several of one name"):
        download_run("talk")
    assert not folder.exists()
