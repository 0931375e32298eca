"""The command `report`: the file it writes, and what it refuses."""

import json
import re
import shutil
import sys

import pytest

from keras_transformer import Run
from keras_transformer.cli.main import main
from keras_transformer.data.corpus import Corpus
from keras_transformer.training.plan import about_corpus


@pytest.fixture
def corpus(small_pairs, tmp_path):
    path = tmp_path / "말뭉치.csv"
    small_pairs.to_csv(path, index=False)
    return path


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """A function that calls the command in a folder of its own."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")

    def report(*words):
        status = main(["report", *map(str, words)])
        return status, *capsys.readouterr()

    return report


def names(tmp_path):
    return sorted(path.name for path in (tmp_path / "folder").iterdir())


def test_a_run_whose_corpus_is_found_needs_no_more(call, corpus, small_run, tmp_path):
    run = shutil.copytree(small_run, tmp_path / "첫 실행")
    about, own = json.loads((run / "config.json").read_text("utf-8")), Corpus(corpus)
    about["corpus"] = about_corpus(own.source, own.survey())
    (run / "config.json").write_text(json.dumps(about), "utf-8")
    (run / "checksums.json").unlink()  # Of the config that was written.
    status, out, errors = call(run, "--output", "보고서.HTML", "--beam", "2", "--split", "validation")
    asked = f"the validation split of {corpus}: {Run(run).corpus['validation']} of 128 pairs"
    assert (status, out, errors) == (0, "보고서.HTML\n", f"Evaluating on {asked} …\n")
    assert names(tmp_path) == ["보고서.HTML"]
    page = (tmp_path / "folder/보고서.HTML").read_text("utf-8")
    assert "말뭉치.csv" in page.split("<pre")[0]
    assert re.search(r"copied.*100\.0%", page)
    commands = page.split("<pre>")[1].split("</pre>")[0].replace("&#39;", "'").splitlines()
    assert commands == [
        "keras-transformer train --config config.toml --run '첫 실행'",
        "keras-transformer evaluate '첫 실행' '말뭉치.csv' --split validation --beam 2",
        "keras-transformer report '첫 실행' '말뭉치.csv' --split validation --beam 2 --output '보고서.HTML'",
    ]


def test_another_corpus_may_be_named(call, corpus, small_run, tmp_path):
    status, out, _ = call(small_run, corpus, "--output", "a.html", "--forbidden-ids", "5", "6")
    assert (status, out) == (0, "a.html\n")
    page = (tmp_path / "folder/a.html").read_text("utf-8").replace("&#39;", "'")
    assert "'말뭉치.csv' --split test --forbidden-ids 5 6 --output a.html" in page


@pytest.mark.filterwarnings("default")
def test_a_report_on_another_file_is_on_all_of_it(call, small_run, tmp_path):
    (tmp_path / "folder/other.csv").write_text("question,answer\nhello there,Hi there!\ngood bye,See you!\n")
    assert call(small_run, "other.csv", "--output", "a.html")[:2] == (0, "a.html\n")
    page = (tmp_path / "folder/a.html").read_text("utf-8")
    assert "2 questions with 2 answers: all of other.csv." in page
    assert "keras-transformer evaluate run other.csv\n" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--output", "a.pdf"], "a.pdf: name a file that ends in .html"),
        (["--output", "none/a.html"], "none/a.html: there is no folder none"),
        (["--output", "a.html", "--split", "dev"], "--split: must be one of train, validation, test, not 'dev'"),
        (["--output", "a.html"], "no run: there is no such run folder"),
    ],
)
def test_wrong_words_are_one_line(call, tmp_path, words, message):
    assert call("no run", *words) == (2, "", f"keras-transformer: error: {message}\n")
    assert names(tmp_path) == []


def test_a_run_that_does_not_say_where_its_corpus_is_is_one_line(call, small_run, tmp_path):
    message = f"keras-transformer: error: {small_run}: the path of its corpus is not recorded: name the corpus\n"
    assert call(small_run, "--output", "a.html") == (2, "", message)
    assert names(tmp_path) == []


def test_a_missing_package_is_named_before_anything_is_read(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    status, out, errors = call("no run", "--output", "a.html")
    assert (status, out) == (2, "")
    assert errors == (
        "keras-transformer: error: a report needs the package jinja2, which is missing: "
        "pip install 'keras-transformer-trainer[report]'\n"
    )
