"""The command `studio`."""

import pytest

pytest.importorskip("gradio")


def test_other_machines_need_a_key(call, tmp_path, monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)
    process = call("studio", tmp_path / "runs", "--host", "0.0.0.0", "--port", "0", "--no-browser")
    assert process.returncode == 2
    assert process.stderr == (
        "keras-transformer: error: --host 0.0.0.0: other machines can reach the studio: add --api-key-file FILE\n"
    )
    assert not (tmp_path / "runs").exists()
