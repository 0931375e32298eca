import os

import pytest

from benchmarks.programs import Failed
from benchmarks.results import median_and_range, publish, replace_section, table, without_folders

DOCUMENT = """# Results

By hand.

<!-- begin training -->
old
<!-- end training -->

Between.

<!-- begin lengths -->
kept
<!-- end lengths -->
"""


def test_spread_is_the_median_between_the_extremes():
    assert median_and_range([381.4, 370.2, 375.0]) == "375 (370–381)"
    assert median_and_range([1.5, 2.5], 2) == "2.00 (1.50–2.50)"
    assert median_and_range(iter([12345.0])) == "12,345"


def test_table_is_markdown():
    assert table(["what", "s"], [["a", "1"], ["b", "2"]]) == "| what | s |\n| --- | ---: |\n| a | 1 |\n| b | 2 |"


def test_a_section_is_replaced_and_all_else_kept():
    assert replace_section(DOCUMENT, "training", "new") == DOCUMENT.replace("old", "new")


def test_a_section_that_is_not_there_is_appended():
    appended = "\n<!-- begin tasks -->\nnew\n<!-- end tasks -->\n"
    assert replace_section(DOCUMENT, "tasks", "new") == DOCUMENT + appended


@pytest.mark.parametrize(
    "broken",
    [
        DOCUMENT.replace("<!-- end training -->", ""),
        DOCUMENT.replace("<!-- begin training -->", ""),
        DOCUMENT + "<!-- begin training -->\n<!-- end training -->\n",
        "<!-- end training -->\n<!-- begin training -->\n",
    ],
)
def test_broken_markers_are_refused_before_anything_is_lost(broken):
    with pytest.raises(Failed, match="repair them by hand"):
        replace_section(broken, "training", "new")


def test_publishing_prints_and_writes_the_same(results, capsys):
    publish(results, "a", "First", ["one"])
    publish(results, "b", "Second", ["two", "three"])
    publish(results, "a", "First", ["one again"])
    assert "## Second\n\ntwo\n\nthree\n" in capsys.readouterr().out
    text = results.read_text("utf-8")
    assert text.startswith("# Results\n")
    assert text.endswith(
        "<!-- begin a -->\n## First\n\none again\n<!-- end a -->\n\n"
        "<!-- begin b -->\n## Second\n\ntwo\n\nthree\n<!-- end b -->\n"
    )


def test_ctrl_c_while_writing_leaves_the_old_results_whole(results, monkeypatch):
    results.write_text(DOCUMENT)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        publish(results, "training", "Speed", ["new"])
    assert results.read_text() == DOCUMENT
    assert os.listdir(results.parent) == ["RESULTS.md"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("--peers ../../some/peers --rounds 2", "--peers …/peers --rounds 2"),
        ("--corpus=/home/me/Chat.csv", "--corpus=…/Chat.csv"),
        ("'~/my files'", "'…/my files'"),
        ("can't open file '/a/b/c.py': [Errno 2]", "can't open file '…/c.py': [Errno 2]"),
        ("--corpus data/small_talk.csv", "--corpus data/small_talk.csv"),
        ("400 pairs/s", "400 pairs/s"),
    ],
)
def test_folders_outside_the_repository_are_not_told(text, shown):
    assert without_folders(text) == shown
