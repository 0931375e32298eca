"""The commands of `data`, as their users see them."""

import functools
import json

import pytest

from keras_transformer.cli import main
from keras_transformer.cli.console import table
from keras_transformer.data import catalog

SMALL_TALK = "Q,A,label\n안녕,반가워요.,0\nq11,a,0\n질문 53,대답,1\nhello,Hi!,0\n"


@pytest.fixture
def small_talk(made_up_corpus, tmp_path):
    """A corpus and a path with its file."""
    path = tmp_path / "손으로 받은 것.csv"
    path.write_text(SMALL_TALK, encoding="utf-8", newline="")
    return made_up_corpus(SMALL_TALK), path


@pytest.fixture
def call(capsys):
    """A function that runs a command and returns its status, what it prints, and its errors."""

    def run(*arguments):
        status = main.main(["data", *map(str, arguments)])
        return (status, *capsys.readouterr())

    return run


def test_the_list(small_talk, call):
    corpus, _ = small_talk
    status, out, errors = call("list")
    assert (status, errors) == (0, "")
    space = " " * (len(corpus.name) - len("name"))
    assert out == f"name{space}  language  pairs  licence  here\n{corpus.name}  ko            4  CC0      no\n"


def test_the_list_for_programs(small_talk, call):
    corpus, _ = small_talk
    _, out, _ = call("list", "--json")
    assert json.loads(out) == [{"name": corpus.name, "language": "ko", "pairs": 4, "licence": "CC0", "here": False}]


def test_what_is_known_before_the_download(small_talk, call):
    corpus, path = small_talk
    status, out, _ = call("show", corpus.name)
    assert status == 0
    assert out == (
        f"{corpus.name}\n\n"
        "지어낸 말뭉치.\n\n"
        "language  ko\n"
        "pairs     4\n"
        "splits    the frozen split, by the questions\n"
        "licence   CC0\n"
        "homepage  https://corpora.invalid\n"
        f"file      https://corpora.invalid/a.csv ({path.stat().st_size} bytes)\n"
        f"here      no: keras-transformer data download {corpus.name}\n\n"
        "@misc{nobody}\n"
    )


def test_download_and_show(small_talk, call):
    pytest.importorskip("tensorflow_datasets")
    corpus, path = small_talk
    for _ in range(2):
        status, out, _ = call("download", corpus.name, "--from", path)
        assert (status, out) == (0, f"{corpus.prepared}\n")
    assert call("list")[1].splitlines()[1].endswith("CC0      yes")
    _, out, _ = call("show", corpus.name)
    assert "splits    train 2, validation 1, test 1 (the frozen split, by the questions)\n" in out
    assert out.endswith("\n\n안녕   반가워요.\nhello  Hi!\n")
    known = json.loads(call("show", corpus.name, "--json")[1])
    assert known["sample"] == [{"question": "안녕", "answer": "반가워요."}, {"question": "hello", "answer": "Hi!"}]
    assert known["splits"] == {"train": 2, "validation": 1, "test": 1}


def test_a_closed_network_is_one_line_and_status_1(small_talk, call, monkeypatch):
    pytest.importorskip("tensorflow_datasets")
    corpus, _ = small_talk
    monkeypatch.setattr(catalog, "fetch", functools.partial(catalog.fetch, retries=0))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # Where nobody listens.
    status, out, errors = call("download", corpus.name)
    assert (status, out) == (1, "")
    _, line = errors.splitlines()
    assert line.startswith("keras-transformer: failed: https://corpora.invalid/a.csv: Connection refused; ")
    assert f"in another way to {corpus.downloads / 'a.csv'}, or name a copy with --from FILE" in line


def test_wrong_input_is_one_line_and_status_2(small_talk, call, tmp_path):
    pytest.importorskip("tensorflow_datasets")
    corpus, path = small_talk
    path.write_text("")
    for arguments, message in (
        (["show", "말뭉치"], "no corpus is named '말뭉치'"),
        (["download", "말뭉치"], "no corpus is named '말뭉치'"),
        (["download", corpus.name, "--from", path], f"{path}: is none of the files of {corpus.name}"),
        (["download", corpus.name, "--from", tmp_path], f"{tmp_path}: no such file"),
    ):
        status, out, errors = call(*arguments)
        assert (status, out) == (2, "")
        (line,) = errors.splitlines()
        assert line.startswith(f"keras-transformer: error: {message}")


def test_columns_stand_straight_under_hangul():
    assert table([("가나", "a"), ("abcde", "b")]) == "가나   a\nabcde  b"
