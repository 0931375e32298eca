import io
import re
import types

import pytest

from keras_transformer import Config
from keras_transformer.language import language_in_use
from keras_transformer.training import progress
from keras_transformer.training.progress import EpochTable, EpochTimer, fitting_columns, say, show_samples, table_width


class Terminal(io.TextIOWrapper):
    """A terminal in memory."""

    def __init__(self, encoding="utf-8"):
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    def isatty(self):
        return True

    @property
    def lines(self):
        """The lines in the order of their writing, without escape sequences and blanks."""
        text = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", self.buffer.getvalue().decode(self.encoding))
        return [line.rstrip() for line in re.split(r"[\r\n]+", text) if line.strip()]


@pytest.fixture
def terminal(monkeypatch):
    """Makes the standard output a terminal of a width and an encoding."""

    def make(columns=80, encoding="utf-8"):
        shown = Terminal(encoding)
        for name, value in {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": str(columns)}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdout", shown)
        monkeypatch.setattr(progress, "REFRESHES_PER_SECOND", 0.001)  # Nothing is drawn between two lines.
        return shown

    return make


ROWS = [
    {"epoch": epoch, "loss": loss, "val_loss": 2 * loss, "accuracy": 0.5, "pairs/s": 1234.5, "diverged": 0}
    | {"val_bits_per_char": loss}
    for epoch, loss in ((1, 4.5), (2, 2.25), (3, 3.0))
]


def table_of(config):
    """Plays three epochs of two steps to a table."""
    checkpoint = types.SimpleNamespace(step=0, steps_per_epoch=2, rows=[])
    with EpochTable(checkpoint, config) as table:
        for epoch, row in enumerate(ROWS):
            table.on_epoch_begin(epoch)
            for batch in range(2):
                checkpoint.step += 1
                table.on_train_batch_end(batch, {"perplexity": 20.0, "pairs/s": 10.0})
            table.on_test_begin()
            checkpoint.rows.append(row)
            table.on_epoch_end(epoch)
    return table


def test_each_epoch_is_a_line_and_the_best_so_far_has_a_star(terminal):
    shown = terminal()
    table_of(Config(epochs=3))
    header, *lines = shown.lines
    assert header.split() == ["epoch", "loss", "validation", "pairs/s", "left", "★", "best"]
    finished = [line for line in lines if "1,23" in line]
    assert [line.split()[:4] for line in finished] == [
        ["1/3", "4.500", "9.000", "1,234"], ["2/3", "2.250", "4.500", "1,234"], ["3/3", "3.000", "6.000", "1,234"],
    ]  # fmt: skip
    assert [line.endswith("★") for line in finished] == [True, True, False]
    assert finished[2].split()[4] == "0:00:00"


def test_a_log_has_the_same_lines_and_no_bar(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    table_of(Config(epochs=3))
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["epoch", "loss", "validation", "pairs/s", "left", "★", "best"]
    assert [line.split()[0] for line in lines] == ["1/3", "2/3", "3/3"]
    assert "\x1b" not in header + "".join(lines)


def test_korean_headings_are_whole(terminal):
    shown = terminal()
    with language_in_use("ko"):
        table_of(Config(epochs=3))
    assert shown.lines[0].split() == ["에포크", "손실", "검증", "쌍/초", "남은", "시간", "★", "최고"]


def test_an_accuracy_that_selects_the_best_epoch_has_a_column(terminal):
    shown = terminal()
    table_of(Config(epochs=3, monitor="accuracy"))
    header, *lines = shown.lines
    assert "validation  accuracy" in header
    assert "0.500" in next(line for line in lines if "1,23" in line)


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 200])
@pytest.mark.parametrize("monitor", ["val_bits_per_char", "val_accuracy"])
def test_the_table_fits_the_terminal(columns, monitor):
    chosen = fitting_columns(Config(epochs=999, monitor=monitor), columns)
    assert next(iter(chosen)) == "epoch" and {"validation", "left", "best"} <= chosen.keys()
    assert table_width(chosen) <= max(columns, 32)
    assert ("loss" in chosen) == (columns >= 40)
    assert ("val accuracy" in chosen) == (monitor == "val_accuracy" and columns >= 60)
    assert ("pairs/s" in chosen) == (columns >= 80 or (columns == 60 and monitor != "val_accuracy"))


def test_a_terminal_without_unicode_is_no_obstacle(terminal):
    shown = terminal(encoding="ascii")
    table_of(Config(epochs=3))
    say("안녕 …")
    show_samples([("안녕", "네")])
    assert any(line.endswith("*") for line in shown.lines)
    assert r"\uc548\ub155 \u2026" in "\n".join(shown.lines)


def test_long_lines_are_wrapped_between_words_and_wide_characters_counted(terminal):
    shown = terminal(columns=20)
    say("오늘은 무슨 이야기부터 해 볼까요")  # 32 columns.
    show_samples([("[질문]", "오늘은 무슨 이야기부터")])
    assert shown.lines == [
        "오늘은 무슨", "이야기부터 해 볼까요", "Sample answers", "[질문]", "  오늘은 무슨", "  이야기부터",
    ]  # fmt: skip


def test_a_log_has_plain_lines(capsys):
    say("한 줄 " * 40)
    show_samples([("안녕", "네")])
    assert capsys.readouterr().out == f"{'한 줄 ' * 40}\n안녕\n  -> 네\n"


def test_the_time_left_counts_neither_compilation_nor_guesses():
    now = iter([100.0, 102.0, 104.0, 113.0, 120.0, 130.0]).__next__
    timer = EpochTimer(now)
    timer.step(1)  # Compiled; at 100.
    assert timer.left(2, 3, 1) is None
    timer.step(2)
    assert timer.left(1, 3, 2) == 2 + 2 * 6  # 2 s a step, 3 steps an epoch.
    timer.step(3)
    timer.epoch()  # The first epoch with its validation, which was compiled, does not count; at 113.
    assert timer.left(0, 3, 2) == 12
    timer.step(1)
    timer.epoch()
    assert timer.left(0, 3, 1) == 17


def test_what_a_corpus_holds_does_not_control_the_terminal(capsys):
    say("one\x1b[2J")
    show_samples([("a\x07", "b\u202e")])
    assert capsys.readouterr().out == "one\\u001b[2J\na\\u0007\n  -> b\\u202e\n"
