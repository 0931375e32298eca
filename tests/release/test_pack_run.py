"""The ZIP file of a released run, and its row of the table."""

import hashlib
import json
import os
import zipfile

import pytest

from keras_transformer.chat.chatbot import Chatbot
from keras_transformer.data import released_runs
from keras_transformer.data.released_runs import unpack
from release import pack_run


@pytest.fixture
def folder(tmp_path):
    """A folder with two files."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("weights.safetensors", "config.json"):
        (folder / name).write_text(name)
    return folder


def test_the_same_files_give_the_same_bytes_whatever_their_times_and_rights(folder, tmp_path):
    pack_run.write_zip(folder, tmp_path / "first.zip")
    os.utime(folder / "config.json", (1, 1))
    (folder / "config.json").chmod(0o600)
    pack_run.write_zip(folder, tmp_path / "second.zip")
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()
    assert zipfile.ZipFile(tmp_path / "first.zip").namelist() == ["config.json", "weights.safetensors"]


def test_what_is_packed_can_be_unpacked(folder, tmp_path):
    pack_run.write_zip(folder, tmp_path / "a.zip")
    unpack(tmp_path / "a.zip", tmp_path / "unpacked")
    assert {path.name: path.read_text() for path in (tmp_path / "unpacked").iterdir()} == {
        "config.json": "config.json", "weights.safetensors": "weights.safetensors",
    }  # fmt: skip


def test_a_run_is_packed_into_the_same_bytes_at_another_time(small_run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pack_run.main([str(small_run), "--url", "https://releases.invalid/v1/", "--name", "talk"])
    out, errors = capsys.readouterr()
    archive = tmp_path / "dist/talk.zip"
    content = archive.read_bytes()
    assert errors == f"dist/talk.zip: {len(content) / 1e6:.1f} MB\n"
    checksum = hashlib.sha256(content).hexdigest()
    assert out == f"talk\thttps://releases.invalid/v1/talk.zip\t{len(content)}\t{checksum}\n"
    pack_run.pack(small_run, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == content
    (tmp_path / "released_runs.tsv").write_text(out)
    monkeypatch.setattr(released_runs, "TABLE", tmp_path / "released_runs.tsv")
    assert released_runs.released_runs()["talk"].is_at(archive)
    unpack(archive, tmp_path / "talk")
    assert "made" not in json.loads((tmp_path / "talk/export.json").read_text())
    assert Chatbot.load(tmp_path / "talk").reply("hello") == "Hi there!"


def test_what_is_no_run_is_an_error_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        pack_run.main(["runs/none", "--url", "https://releases.invalid"])
    assert capsys.readouterr().err.endswith("error: runs/none: there is no such run folder\n")
