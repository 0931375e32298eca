import pathlib
import subprocess
import sys

import pytest

CONSTRAINTS = pathlib.Path(__file__).parents[2] / "constraints.txt"


@pytest.fixture(scope="session")
def saved_model(small_run, tmp_path_factory):
    """The small run as a SavedModel."""
    from keras_transformer import export_saved_model

    path = tmp_path_factory.mktemp("exported") / "모델"
    export_saved_model(small_run, path)
    return path


@pytest.fixture(scope="session")
def bot(small_run):
    """The small run's chatbot."""
    from keras_transformer import Chatbot

    return Chatbot.load(small_run)


@pytest.fixture
def environment(tmp_path):
    """A function that makes an environment of those packages alone and returns its interpreter."""

    def make(*packages):
        subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
        python = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        installed = subprocess.run(install, capture_output=True, text=True, check=False)
        if installed.returncode:
            pytest.skip(f"pip cannot install {', '.join(packages)} here: {installed.stderr.strip().splitlines()[-1]}")
        return python

    return make


@pytest.fixture
def constrained_environment(environment):
    """The same, of the versions in constraints.txt."""
    return lambda *packages: environment("--constraint", str(CONSTRAINTS), *packages)
