import sys

import pytest

from benchmarks import xla_reductions

pytestmark = pytest.mark.heavy


@pytest.mark.slow
def test_an_attempt_is_counted_whatever_becomes_of_it(capsys):
    xla_reductions.main(["--attempts", "1", "--seconds", "0", "--threads", "2"])
    assert capsys.readouterr().out.split(": ")[0].strip() in {
        "0 of 1 attempts ended by a signal", "1 of 1 attempts ended by a signal",
    }  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
def test_signals_are_counted_by_their_names(monkeypatch, capsys):
    dies = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(xla_reductions, "PROGRAM", [sys.executable, "-c", dies])
    xla_reductions.main(["--attempts", "2"])
    assert capsys.readouterr().out == "2 of 2 attempts ended by a signal: 2 by SIGSEGV\n"
    assert xla_reductions.in_words([0, -11, -6]) == "2 of 3 attempts ended by a signal: 1 by SIGSEGV, 1 by SIGABRT"


def test_an_attempt_that_cannot_begin_is_no_result(monkeypatch):
    monkeypatch.setattr(xla_reductions, "PROGRAM", [sys.executable, "-c", "raise SystemExit('no TensorFlow')"])
    with pytest.raises(RuntimeError, match=r"status 1:\nno TensorFlow"):
        xla_reductions.main(["--attempts", "1"])
