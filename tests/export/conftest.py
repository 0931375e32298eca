import pathlib
import subprocess
import sys

import numpy as np
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


@pytest.fixture(scope="session")
def assert_answers_as():
    """A function that asserts that a reopened export answers as a chatbot does, by scores that are as good as equal."""

    def compare(answers, bot, questions, **settings):
        found, expected = answers(questions), [one for [one] in bot.n_best(questions, 1, **settings)]
        assert [answer for answer, _ in found] == [answer for answer, _ in expected]
        np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], 1e-3, 1e-4)
        assert all(isinstance(score, float) for _, score in found)  # And no array, which JSON could not hold.

    return compare


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
