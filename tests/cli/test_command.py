import importlib.util

import pytest

from keras_transformer.cli.main import main


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("jaxx", "KERAS_BACKEND=jaxx: must be one of tensorflow, jax, torch"),
        ("jax", "KERAS_BACKEND=jax: that package is missing: pip install jax"),
    ],
)
def test_a_backend_that_is_not_there_is_one_line(monkeypatch, capsys, backend, message):
    monkeypatch.setenv("KERAS_BACKEND", backend)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert main(["presets"]) == 2
    assert capsys.readouterr() == ("", f"keras-transformer: error: {message}\n")


def test_the_backend_of_every_day_needs_no_word(monkeypatch, capsys):
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    assert main(["presets"]) == 0
    assert capsys.readouterr().err == ""
