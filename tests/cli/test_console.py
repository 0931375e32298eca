import importlib.util

import pytest

from keras_transformer.cli.console import echo, fitted, table, wrap
from keras_transformer.cli.main import main


def test_hangul_is_twice_as_wide_in_columns_left_and_right():
    assert table([("가나", "a"), ("abcde", "b")]) == "가나   a\nabcde  b"
    assert table([("a", "가나"), ("b", "abcde")], right=[1]) == "a   가나\nb  abcde"


def test_lines_break_between_words():
    assert list(wrap("하나 둘 셋 넷", 7)) == ["하나 둘", "셋 넷"]
    assert list(wrap("하나 둘 셋 넷", 6)) == ["하나", "둘 셋", "넷"]
    assert list(wrap("one  two\nthree", 8)) == ["one  two", "three"]


def test_what_is_longer_than_a_line_breaks_within():
    assert list(wrap("ab 가나다라마", 6)) == ["ab 가", "나다라", "마"]
    assert list(wrap("", 6)) == [""]


def test_a_line_is_wrapped_below_its_indent_and_a_command_stays_whole():
    assert fitted("  한 번만: 준 (2행), 착 (3행)", 20) == "  한 번만: 준\n    (2행), 착 (3행)"
    assert fitted("  short", 20) == "  short"
    assert fitted("", 20) == ""
    command = "  keras-transformer train pairs.csv --run runs/pairs"
    assert fitted(command, 20) == command


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("jaxx", "KERAS_BACKEND=jaxx: must be one of tensorflow, jax, torch"),
        ("jax", "KERAS_BACKEND=jax: the package is not installed: pip install jax"),
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


def test_what_is_printed_does_not_control_the_terminal(capsys):
    echo("a\x1b[31m", "b\nc", sep="|", flush=True)
    assert capsys.readouterr().out == "a\\u001b[31m|b\nc\n"
    assert table([("a\nb", "c\x9bd"), ("e", "f")]) == "a\\nb  c\\u009bd\ne     f"
    assert list(wrap("a\x07b", 20)) == ["a\\u0007b"]


def test_an_error_is_one_harmless_line_whatever_it_names(capsys):
    assert main(["info", "no\x1b]0;run\nhere\u202e"]) == 2
    message = r"keras-transformer: error: no\u001b]0;run\nhere\u202e: there is no such run folder"
    assert capsys.readouterr() == ("", message + "\n")
