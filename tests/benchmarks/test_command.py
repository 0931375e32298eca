import datetime
import platform
import subprocess
import sys
import types

import pytest

from benchmarks import __main__ as everything
from benchmarks import command, machine
from benchmarks.programs import Failed
from keras_transformer import InputError


def test_results_say_how_when_and_where_they_came_to_be():
    begun = datetime.date.today()
    text = command.provenance("training", ["--peers", "/somewhere/my peers", "--rounds", "2"])
    assert text.startswith("`python -m benchmarks.training --peers '…/my peers' --rounds 2`, ")
    assert any(day.isoformat() in text for day in (begun, datetime.date.today()))  # Midnight may lie between.
    assert f"Python {platform.python_version()}, TensorFlow 2." in text
    assert " cores, " in text
    assert " GiB of memory, " in text
    assert "peers:" not in text


def test_the_peers_versions_are_told_where_they_differ():
    assert "peers:" not in command.provenance("training", [], sys.executable)
    assert "; peers: an interpreter that does not run." in command.provenance("training", [], "no_such_python")
    assert machine.describe_versions("no_such_python") == "an interpreter that does not run"


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (Failed("no luck"), 1, "benchmarks: failed: no luck\n"),
        (InputError("no such corpus"), 2, "benchmarks: error: no such corpus\n"),
        (KeyboardInterrupt(), 130, "\nStopped; the results are as they were.\n"),
    ],
)
def test_what_goes_wrong_is_a_line_and_a_status(error, status, said, capsys):
    def main():
        raise error

    with pytest.raises(SystemExit) as end:
        command.start(main)
    assert end.value.code == status
    assert capsys.readouterr().err == said


def test_everything_is_tasks_and_then_training(monkeypatch):
    done = []
    monkeypatch.setattr(subprocess, "run", lambda words: done.append(words[2]) or types.SimpleNamespace(returncode=0))
    monkeypatch.setattr(everything.training, "main", done.append)
    everything.main(["--rounds", "3"])
    assert done == ["benchmarks.tasks", ["--rounds", "3"]]


def test_a_failure_of_tasks_ends_everything(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda words: types.SimpleNamespace(returncode=1))
    monkeypatch.setattr(everything.training, "main", lambda arguments: pytest.fail("training was measured"))
    with pytest.raises(SystemExit) as end:
        everything.main([])
    assert end.value.code == 1
