"""What is published: the source distribution and the wheel that is built from it, without the checkout."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

import keras_transformer

ROOT = pathlib.Path(__file__).parents[1]
SOURCES = ("keras_transformer_trainer.py", "setup.cfg", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")
BESIDE = ("CHANGELOG.md", "CITATION.cff", "constraints.txt")
QUIET = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}

SIZES = ("--preset", "small", "--num-layers", 1, "--d-model", 16, "--num-heads", 2, "--dff", 16)


def run(*arguments, **options):
    """Runs a module or a script of Python; returns what it prints, and fails with it if it fails."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The folder of the source distribution and the wheel."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in (*SOURCES, *BESIDE):
        shutil.copy(ROOT / name, source)
    shutil.copytree(
        ROOT / "keras_transformer", source / "keras_transformer", ignore=shutil.ignore_patterns("__pycache__")
    )
    run("-m", "build", "--no-isolation", "--outdir", folder, source, env=QUIET)
    return folder


@pytest.fixture(scope="module")
def wheel(published):
    """The wheel."""
    [path] = published.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder where the wheel is installed, alone."""
    site = tmp_path_factory.mktemp("site")
    run(
        "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--no-index", "--target", site, wheel, env=QUIET
    )
    return site


def package_files():
    """Returns the paths of all files of the package in the checkout."""
    files = (path for path in (ROOT / "keras_transformer").rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(ROOT).as_posix() for path in files} | {"keras_transformer_trainer.py"}


def test_the_wheel_holds_the_files_of_the_package_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == package_files()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    [about] = (name for name in names if name.endswith("/METADATA"))
    assert b"License-Expression: Apache-2.0 AND CC0-1.0\n" in zipfile.ZipFile(wheel).read(about)


def test_the_source_distribution_holds_what_builds_the_wheel_and_no_tests(published):
    [path] = published.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames() if not archive.getmember(name).isdir()}
    written = {"PKG-INFO", *(name for name in names if ".egg-info/" in name)}
    assert names - written == {*package_files(), *SOURCES, *BESIDE}


def test_the_citation_and_the_changelog_are_of_this_version():
    version = keras_transformer.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1] == version


def test_the_pages_of_the_index_can_be_made_from_it(published):
    run("-m", "twine", "check", "--strict", *published.iterdir())


@pytest.mark.slow
def test_the_wheel_alone_trains_and_answers(installed, tmp_path):
    (tmp_path / "pairs.csv").write_text("".join(f"ask {i},reply {i}\n" for i in range(40)), encoding="utf-8")
    alone = {**QUIET, "PYTHONPATH": str(installed)}
    where = run("-c", "import keras_transformer; print(keras_transformer.__file__)", env=alone, cwd=tmp_path)
    assert pathlib.Path(where.strip()) == installed / "keras_transformer/__init__.py"

    def command(*arguments, **options):
        return run(installed / "bin/keras-transformer", *arguments, env=alone, cwd=tmp_path, **options)

    assert command("--version") == f"keras-transformer {keras_transformer.__version__}\n"
    assert "small_talk.csv" in command("data", "show", "small_talk")
    command("train", "pairs.csv", "--run", "run", *SIZES, "--epochs", 1)
    assert len(command("answer", "run", input="question 7\n").splitlines()) == 1
