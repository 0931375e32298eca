"""The studio's folder: no name or text of a visitor leads out of it."""

import os

import pandas as pd
import pytest

from keras_transformer.data.corpus import load_pairs
from keras_transformer.errors import InputError

pytest.importorskip("gradio")

from keras_transformer.studio.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "봇들")


def test_typed_pairs_are_a_corpus(workspace):
    name = workspace.save_pairs("우리반", [["숙제 있어?", '네, "12쪽"이에요.'], ["", ""], [" hi ", "Hello\nthere"]])
    assert name == "우리반.csv"
    pairs = load_pairs(workspace.corpus(name))
    assert pairs.values.tolist() == [["숙제 있어?", '네, "12쪽"이에요.'], ["hi", "Hello\nthere"]]
    assert workspace.save_pairs("우리반", [["a", "b"]]) == "우리반-2.csv"  # Nothing of others is overwritten.


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "there is no pair yet"),
        ([["a", ""]], "row 1: a question and an answer belong together"),
        ([["a", "b" * 2001]], "row 1: a text has at most 2,000 characters"),
        ([["a", "b"]] * 5001, "at most 5,000 pairs"),
    ],
)
def test_what_is_no_corpus_is_refused(workspace, rows, reason):
    with pytest.raises(InputError, match=reason):
        workspace.save_pairs("bot", rows)


@pytest.mark.parametrize("name", ["", ".", "..", "../out", "a/b", "/etc", "-x", ".studio", "corpora", "a" * 61, "a\0"])
def test_a_name_that_is_none_is_refused(workspace, name):
    with pytest.raises(InputError):
        workspace.new_run(name)
    for find in (workspace.run, workspace.corpus):
        with pytest.raises(InputError):
            find(name)


def test_a_name_is_taken_once(workspace):
    assert workspace.free_name() == "bot-1"
    workspace.new_run("bot-1").mkdir()
    assert workspace.free_name() == "bot-2"
    with pytest.raises(InputError, match="already a bot named bot-1"):
        workspace.new_run("bot-1")


def test_an_upload_is_copied_under_a_name_of_letters(workspace, tmp_path):
    file = tmp_path / "자주 묻는 질문;rm.tsv"
    file.write_text("question\tanswer\n문 여는 시간?\t아홉 시\n", encoding="utf-8")
    assert workspace.keep_upload(file) == "자주_묻는_질문_rm.tsv"
    workspace.discard("../자주_묻는_질문_rm.tsv")
    assert workspace.corpora()[0] == "small_talk"
    with pytest.raises(InputError, match="ends in"):
        workspace.keep_upload(tmp_path / "program.exe")


def test_a_spreadsheet_becomes_a_corpus(workspace, tmp_path):
    file = tmp_path / "faq.xlsx"
    pd.DataFrame([["몇 층?", "3"], ["NA", "없음"]], columns=["question", "answer"]).to_excel(file, index=False)
    assert load_pairs(workspace.corpus(workspace.keep_upload(file))).values.tolist() == [
        ["몇 층?", "3"],
        ["NA", "없음"],
    ]
    file.write_bytes(b"no spreadsheet")
    name = workspace.keep_upload(file)
    with pytest.raises(InputError, match=rf"{name}: damaged, or not XLSX"):
        load_pairs(workspace.corpus(name))


def test_what_was_made_for_download_is_removed_after_a_day(workspace):
    old, new = workspace.scratch_folder(), workspace.scratch_folder()
    os.utime(old, (0, 0))
    workspace.scratch_folder()
    assert (old.exists(), new.exists()) == (False, True)


def test_a_recipe_names_settings_alone(workspace):
    assert workspace.save_settings("bot", "epochs = 3\n").read_text() == "epochs = 3\n"
    for text, reason in (
        ('corpus = "/etc/passwd"', "the recipe may not contain corpus"),
        ('from = "/home"\ntokenizer_file = "x"', "may not contain from, tokenizer_file"),
        ("epochs = 0", "recipe: .*epochs"),
    ):
        with pytest.raises(InputError, match=reason):
            workspace.save_settings("other", text)
        assert not (workspace.path / "corpora/other.toml").exists()
