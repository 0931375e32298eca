"""The start of the command, alone and beside the other project that has the same import package."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
START = "import sys, keras_transformer_trainer; sys.exit(keras_transformer_trainer.main())"
WARNING = (
    "keras-transformer: warning: the package keras-transformer 0.40.0 is another project, and replaces files of this "
    "one: pip uninstall keras-transformer, then pip install --force-reinstall --no-deps keras-transformer-trainer (in "
    "a checkout: pip install -e .)\n"
)


@pytest.fixture
def site(tmp_path):
    """A folder on Python's path with the metadata of the other project."""
    about = tmp_path / "keras_transformer-0.40.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: keras-transformer\nVersion: 0.40.0\n")
    return tmp_path


def start(site, *arguments, program=("-c", START)):
    """Runs the command with a folder before all others on Python's path."""
    path = os.pathsep.join([str(site), str(ROOT)])
    return subprocess.run(
        [sys.executable, *program, *arguments], env={**os.environ, "PYTHONPATH": path}, cwd=site, capture_output=True,
        text=True,
    )  # fmt: skip


@pytest.mark.parametrize("program", [("-c", START), ("-m", "keras_transformer")], ids=["command", "module"])
def test_one_line_says_that_the_other_project_is_installed(site, program):
    done = start(site, "--version", program=program)
    assert (done.returncode, done.stdout[:17], done.stderr) == (0, "keras-transformer", WARNING)


def test_a_package_that_the_other_project_has_replaced_is_that_line_and_status_1(site):
    package = site / "keras_transformer"
    package.mkdir()
    noise = "import sys\nprint('oneDNN custom operations are on.', file=sys.stderr)\n"
    (package / "__init__.py").write_text(f"{noise}from keras_layer_normalization import LayerNormalization\n")
    done = start(site, "presets")
    assert (done.returncode, done.stdout, done.stderr.splitlines(keepends=True)[-1]) == (1, "", WARNING)


def test_this_project_under_its_former_name_is_none_of_the_others(site):
    [about] = site.glob("*.dist-info")
    (about / "entry_points.txt").write_text("[console_scripts]\nkeras-transformer = keras_transformer.cli.main:main\n")
    done = start(site, "--version")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_the_other_project_nothing_is_hidden(tmp_path):
    (tmp_path / "keras_transformer").mkdir()
    (tmp_path / "keras_transformer/__init__.py").write_text("import no_such_package\n")
    done = start(tmp_path, "presets")
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'no_such_package'\n")
