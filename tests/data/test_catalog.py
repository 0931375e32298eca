"""Corpora by name: from the address to the pairs, and what stands in the way."""

import functools
import pathlib
import sys
import types

import pandas
import pytest

from keras_transformer.data import catalog
from keras_transformer.data.catalog import (
    corpora,
    corpus_pairs,
    data_home,
    download_corpus,
    find_corpus,
    load_corpus,
    packaged_file,
)
from keras_transformer.data.corpus import load_pairs
from keras_transformer.data.split import split_pairs
from keras_transformer.errors import DownloadFailed, InputError

KOREAN = pathlib.Path(__file__).parents[3] / "shared/corpora/chatbot_ko/ChatbotData.csv"

# Two for training, one for validation, one for the test: see tests/data/test_split.py.
SMALL_TALK = "Q,A,label\n안녕,반가워요.,0\nq11,a,0\n질문 53,대답,1\nhello,Hi!,0\n"


@pytest.fixture
def small_talk(made_up_corpus, tmp_path):
    """A corpus and a path with its file."""
    pytest.importorskip("tensorflow_datasets")
    path = tmp_path / "손으로 받은 것.csv"
    path.write_text(SMALL_TALK, encoding="utf-8", newline="")
    return made_up_corpus(SMALL_TALK), path


def test_every_corpus_says_what_it_is():
    names = ["small_talk", "chatbot_ko", "cornell_movie_dialogs", "multi30k"]
    assert [corpus.name for corpus in corpora()] == names
    for corpus in corpora():
        assert corpus.description
        assert corpus.citation.startswith("@")
        assert corpus.homepage is None or corpus.homepage.startswith("https://")
        for file in corpus.files:
            assert file.url.startswith("https://")
            assert file.url.endswith(f"/{file.name}")
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.size > 0


@pytest.mark.skipif(not KOREAN.exists(), reason="the Korean chatbot corpus is not beside the repository")
def test_the_korean_corpus_is_the_one_of_the_catalog():
    corpus = find_corpus("chatbot_ko")
    (file,) = corpus.files
    assert file.is_at(KOREAN)
    assert len(load_pairs(KOREAN)) == corpus.pairs


def test_the_corpus_that_comes_along_needs_nothing_else(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", None)
    corpus = find_corpus("small_talk")
    download_corpus("small_talk")
    splits, whole = load_corpus("small_talk"), load_pairs("small_talk")
    assert {name: len(split) for name, split in splits.items()} == corpus.splits
    assert sum(corpus.splits.values()) == len(whole) == corpus.pairs
    for name, split in split_pairs(whole).items():
        assert splits[name].values.tolist() == split[["question", "answer"]].values.tolist()


def test_a_file_goes_before_the_corpus_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert packaged_file("small_talk") == find_corpus("small_talk").prepared
    (tmp_path / "small_talk").mkdir()
    assert packaged_file("small_talk") is None
    assert packaged_file("chatbot_ko") is None
    assert packaged_file(["small_talk"]) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chatbot", "no corpus is named 'chatbot': did you mean chatbot_ko?"),
        ("말뭉치", "no corpus is named '말뭉치'; there are small_talk, chatbot_ko, cornell_movie_dialogs, multi30k"),
    ],
)
def test_unknown_names(name, message):
    for function in (find_corpus, download_corpus, load_corpus):
        with pytest.raises(InputError) as caught:
            function(name)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("settings", "home"),
    [
        ({"KERAS_TRANSFORMER_DATA": "/데이터", "XDG_CACHE_HOME": "/c"}, "/데이터"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/keras_transformer"),
        ({"HOME": "/home/me"}, "/home/me/.cache/keras_transformer"),
    ],
)
def test_where_corpora_are_kept(settings, home, monkeypatch):
    for name in ("KERAS_TRANSFORMER_DATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert data_home() == pathlib.Path(home)


def test_from_a_file_to_pairs(small_talk):
    corpus, path = small_talk
    assert not corpus.is_prepared
    assert corpus.splits == {}
    download_corpus(corpus.name, [path])
    assert corpus.is_prepared
    assert corpus.splits == {"train": 2, "validation": 1, "test": 1}
    assert list(corpus_pairs(corpus.name)) == [("안녕", "반가워요."), ("hello", "Hi!")]
    assert list(corpus_pairs(corpus.name, "test")) == [("질문 53", "대답")]


def test_parts_are_those_of_the_split_of_the_whole(small_talk):
    corpus, path = small_talk
    download_corpus(corpus.name, [path])
    splits = load_corpus(corpus.name)
    for whole in (load_pairs(path), pandas.concat(splits.values())):
        for name, frame in split_pairs(whole).items():
            pandas.testing.assert_frame_equal(frame, splits[name])


def test_more_pairs_than_are_read_at_a_time_keep_their_order(made_up_corpus, tmp_path, monkeypatch):
    pytest.importorskip("tensorflow_datasets")
    monkeypatch.setattr(catalog, "BATCH", 7)
    text = "q,a\n" + "".join(f"질문 {number},대답 {number}\n" for number in range(100))
    (tmp_path / "a.csv").write_text(text, encoding="utf-8", newline="")
    corpus = made_up_corpus(text)
    download_corpus(corpus.name, [tmp_path / "a.csv"])
    expected = split_pairs(load_pairs(tmp_path / "a.csv"))["train"]
    assert list(corpus_pairs(corpus.name)) == list(expected.itertuples(index=False, name=None))


def test_from_an_address_to_pairs(server, made_up_corpus, capfd):
    pytest.importorskip("tensorflow_datasets")
    server.content = SMALL_TALK.encode()
    corpus = made_up_corpus(SMALL_TALK, server.url)
    download_corpus(corpus.name)
    assert sorted(path.name for path in corpus.downloads.iterdir()) == ["a.csv", "lock"]
    assert len(load_corpus(corpus.name)["train"]) == 2
    download_corpus(corpus.name)
    assert server.ranges == [None]
    assert capfd.readouterr().out == ""


def test_a_file_that_was_put_in_its_place_is_taken(small_talk):
    corpus, path = small_talk
    corpus.downloads.mkdir(parents=True)
    path.rename(corpus.downloads / "a.csv")
    download_corpus(corpus.name)
    assert corpus.is_prepared


def test_what_a_killed_preparation_left_is_removed(small_talk):
    corpus, path = small_talk
    left = corpus.prepared.parent / "incomplete.ABC_1.0.0"
    left.mkdir(parents=True)
    download_corpus(corpus.name, [path])
    assert corpus.is_prepared
    assert not left.exists()


def test_nothing_is_here_after_a_download_that_failed(server, made_up_corpus, monkeypatch):
    pytest.importorskip("tensorflow_datasets")
    monkeypatch.setattr(catalog, "fetch", functools.partial(catalog.fetch, retries=0))
    server.plan = [404]
    corpus = made_up_corpus(SMALL_TALK, server.url)
    with pytest.raises(DownloadFailed) as caught:
        download_corpus(corpus.name)
    assert f"in another way to {corpus.downloads / 'a.csv'}" in caught.value.strerror
    assert not corpus.is_prepared


def test_files_that_are_not_the_corpus(small_talk, tmp_path):
    corpus, path = small_talk
    path.write_text("else")
    with pytest.raises(InputError, match=f"is none of the files of {corpus.name} \\(a.csv\\)"):
        download_corpus(corpus.name, [path])
    with pytest.raises(InputError, match=r"nowhere.csv: no such file"):
        download_corpus(corpus.name, [tmp_path / "nowhere.csv"])
    assert not data_home().exists()


def test_reading_what_is_not_here(small_talk):
    corpus, _ = small_talk
    message = f"{corpus.name}: not downloaded yet: run keras-transformer data download {corpus.name}"
    with pytest.raises(InputError, match=message):
        load_corpus(corpus.name)
    with pytest.raises(InputError, match=message):
        next(corpus_pairs(corpus.name))


def test_unknown_parts(small_talk):
    corpus, path = small_talk
    download_corpus(corpus.name, [path])
    with pytest.raises(InputError, match="no split is named 'valid'; there are train, validation, test"):
        next(corpus_pairs(corpus.name, "valid"))


@pytest.mark.parametrize("package", ["tensorflow_datasets", "importlib_resources"])
def test_a_missing_package_is_named_with_the_extra(package, made_up_corpus, monkeypatch):
    for known in ("tensorflow_datasets", "importlib_resources"):
        monkeypatch.setitem(sys.modules, known, types.ModuleType(known))  # Installed or not.
    corpus = made_up_corpus(SMALL_TALK)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"{package}.*pip install 'keras-transformer-trainer\[datasets\]'"):
        download_corpus(corpus.name)
