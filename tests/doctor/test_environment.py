import importlib.metadata
import pathlib
import tempfile
from collections import namedtuple

import pytest

from keras_transformer.doctor import environment
from keras_transformer.doctor.finding import FAILED, OK, SKIPPED, WARNING
from keras_transformer.errors import DISTRIBUTION, InputError
from keras_transformer.visualize import fonts


def test_this_machine_is_examined_in_order(tmp_path):
    findings = list(environment.environment_findings(tmp_path / "not/there/yet"))
    checks = [finding.check for finding in findings]
    assert checks[:3] == [
        "Installed versions are those that the package supports", "The devices are in use", "Pictures can show Hangul",
    ]  # fmt: skip
    assert checks[3] == f"{tmp_path / 'not/there/yet'} can be written and locked"
    assert FAILED not in {finding.status for finding in findings}
    assert not list(tmp_path.iterdir())


def test_a_version_out_of_range(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: ["keras >=3.14, <4", "numpy; extra == 'x'"])
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2.15.0")
    finding = environment.supported_versions()
    assert (finding.status, finding.measured) == (FAILED, "keras is 2.15.0, not <4,>=3.14")
    assert DISTRIBUTION in finding.advice


def test_a_missing_dependency(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: ["no-such-package"])
    assert environment.supported_versions().measured == "no-such-package is missing"


def test_a_package_that_is_not_installed_has_no_ranges(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", missing)
    assert environment.supported_versions().status == SKIPPED


def test_a_gpu_that_is_not_seen(monkeypatch):
    monkeypatch.setattr(environment, "explain_unseen_gpu", lambda: "its driver is not loaded")
    finding = environment.devices()
    assert (finding.status, finding.advice) == (WARNING, "its driver is not loaded")


def test_no_font_with_hangul(monkeypatch):
    def no_font(texts):
        raise InputError("no installed font has the characters 가 힣")

    monkeypatch.setattr(fonts, "fonts_for", no_font)
    assert environment.hangul_font().status == WARNING


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    finding = environment.writable(tmp_path)
    assert (finding.status, finding.measured) == (FAILED, "Permission denied")


def test_a_folder_without_locks(tmp_path, monkeypatch):
    def no_locks(file, wait):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("keras_transformer.runs.lock.lock_file", no_locks)
    finding = environment.writable(tmp_path)
    assert finding.status == WARNING and "No locks available" in finding.measured


@pytest.mark.parametrize(("free", "status"), [(2**30, OK), (2**30 - 1, WARNING)])
def test_a_disk_that_is_nearly_full(monkeypatch, free, status):
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda path: namedtuple("Usage", "free")(free))
    assert environment.room(pathlib.Path("/")).status == status
