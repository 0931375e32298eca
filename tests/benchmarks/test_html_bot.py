import shutil

import pytest

from benchmarks.corpus import SMALL_TALK

pytestmark = pytest.mark.heavy

html_bot = pytest.importorskip("benchmarks.html_bot", reason="playwright is not installed", exc_type=ImportError)


def test_one_question_in_ten_is_varied_each_time_in_another_way():
    varied = html_bot.varied(["How are you?"] * 60)
    assert varied[::10] == [
        "How are you? 🙂👍🏽", "\u3000How \t\xa0are \t\xa0you?", "HOW ARE YOU?", "Howareyou?", "?uoy era woH",
        "How are you? 🙂👍🏽",
    ]  # fmt: skip
    assert varied.count("How are you?") == 54


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, html_bot.BROWSERS)), reason="no Chromium is installed")
def test_each_type_of_weights_has_a_row(small_run, results):
    html_bot.main([str(small_run), str(SMALL_TALK), "--questions", "20", "--results", str(results)])
    lines = results.read_text("utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith(("| float32", "| int8"))]
    assert [row[0] for row in rows] == ["| float32", "| int8"]
    assert rows[0][1:4] == ["20 of 20", "20 of 20", "2 of 2"]
    assert [row[-1] for row in rows] == ["0 |", "0 |"]
    assert float(rows[1][4]) < float(rows[0][4])
