"""Commands of the studio, in processes of their own."""

import pytest

pytest.importorskip("gradio")

from keras_transformer.errors import InputError
from keras_transformer.language import language_of_context
from keras_transformer.studio.command import Cancelled, Command, Running


def test_a_command_is_a_process_that_can_be_cancelled(tmp_path):
    running, missing = Running(), tmp_path / "없는 곳"
    with language_of_context("ko"):
        command, failing = Command("data", "check", "small_talk"), Command("info", missing)
    steps = running.steps(("visitor", "train"), command)
    next(steps)
    running.cancel_all("another visitor")
    assert not command.stopped
    running.cancel_all("visitor")
    list(steps)
    list(steps)
    with pytest.raises(Cancelled):
        command.result()
    assert command.process.returncode not in (0, None)
    with pytest.raises(InputError) as error:
        failing.result()
    assert str(error.value) == f"{missing}: 그런 run 폴더가 없습니다"
