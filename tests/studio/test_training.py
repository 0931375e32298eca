"""Trainings of the studio, as they are read from their run folders."""

import shutil

import pytest

pytest.importorskip("gradio")

from keras_transformer.errors import InputError
from keras_transformer.studio import training
from keras_transformer.studio.training import FINISHED, Trainings
from keras_transformer.studio.workspace import Workspace


class Started:
    """Stands in for the process of a command."""

    def __init__(self, *words):
        self.words, self.running, self.stopped = words, True, False

    def stop(self):
        self.stopped = True


@pytest.fixture
def trainings(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "Command", Started)
    monkeypatch.setattr(training.Sampler, "start", lambda self: None)
    return Trainings(Workspace(tmp_path))


def test_two_visitors_cannot_train_into_one_run(trainings):
    trainings.start("bot", "small_talk", ["--epochs", "1"])
    words = trainings._trainings["bot"].command.words
    assert words == ("train", "--run", trainings.workspace.path / "bot", "small_talk", "--epochs", "1")
    with pytest.raises(InputError, match="bot is being trained already"):
        trainings.start("bot", "small_talk")
    trainings.start("other", "small_talk")
    with pytest.raises(InputError, match="bot, other are being trained: stop one"):
        trainings.start("third", "small_talk")
    assert trainings.running() == "other"
    trainings.stop("bot")
    assert trainings._trainings["bot"].command.stopped


def test_a_training_resumes_by_the_same_command(trainings, small_run):
    trainings.start("bot", "small_talk", ["--epochs", "1"])
    first = trainings._trainings["bot"].command
    first.running = False
    trainings.resume("bot")
    assert trainings._trainings["bot"].command is not first
    assert trainings._trainings["bot"].command.words == first.words
    path = shutil.copytree(small_run, trainings.workspace.path / "elsewhere")
    trainings.resume("elsewhere")
    words = trainings._trainings["elsewhere"].command.words
    assert words == ("train", "--run", path, "--config", path / "config.toml")


def test_a_run_that_was_trained_elsewhere_has_its_progress(trainings, small_run):
    shutil.copytree(small_run, trainings.workspace.path / "작은봇")
    progress = trainings.progress("작은봇")
    assert (progress.state, len(progress.rows), progress.epochs, progress.seconds_left) == (FINISHED, 40, 40, None)
    assert trainings.names() == ["작은봇"]
    with pytest.raises(InputError, match="already a bot named"):
        trainings.start("작은봇", "small_talk")


def test_the_time_left_is_that_of_the_epochs_left(trainings, monkeypatch):
    trainings.start("bot", "small_talk")
    one, clock = trainings._trainings["bot"], iter([100.0, 101.0, 110.0])
    monkeypatch.setattr(training.time, "monotonic", lambda: next(clock))

    class Config:
        epochs = 22

    assert one.seconds_left([], Config) is None
    assert one.seconds_left([{}] * 2, Config) is None  # An epoch before took longer: it compiled.
    assert one.seconds_left([{}] * 12, Config) == pytest.approx(9.0)
