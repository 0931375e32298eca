"""Training data that is asked for by another name is known by its questions."""

import json
import unicodedata

import pandas as pd
import pytest

from keras_transformer import Config, CorpusWarning, Run, Tokenizer, load_pairs
from keras_transformer.data import catalog
from keras_transformer.data.corpus import Corpus
from keras_transformer.evaluation.leakage import leaked_questions, warn_of_leakage
from keras_transformer.training.plan import about_corpus


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(["질문 abc 0123456789"], 400)


@pytest.fixture
def make_run(tokenizer, tmp_path):
    """A function that makes the folder of a run that was trained on a corpus, without the training."""

    def make(source, validation=None, **settings):
        config, corpus = Config(**settings), Corpus(source, validation=validation)
        return Run.create(tmp_path / "run", config, tokenizer, about_corpus(corpus.source, corpus.survey(config.turns)))

    return make


def write(path, numbers):
    path.parent.mkdir(exist_ok=True)
    path.write_text("question,answer\n" + "".join(f"질문 {i},답 {i}\n" for i in numbers), "utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    """A corpus in splits of its own: 100 questions to train with, 10 for validation, 10 for the test."""
    write(tmp_path / "folder/train.csv", range(100))
    write(tmp_path / "folder/dev.csv", range(100, 110))
    return write(tmp_path / "folder/test.csv", range(110, 120)).parent


def test_the_training_file_of_a_folder_asked_for_by_itself_is_met(make_run, folder, tmp_path):
    run = make_run(folder)
    assert leaked_questions(run, load_pairs(folder / "train.csv")) == 100
    assert leaked_questions(run, load_pairs(folder / "dev.csv")) == 0
    assert leaked_questions(run, load_pairs(folder / "test.csv")) == 0
    elsewhere = write(tmp_path / "elsewhere.csv", [*range(90, 100), *range(115, 130)])
    assert leaked_questions(run, load_pairs(elsewhere)) == 10


def test_a_file_that_was_trained_on_beside_a_validation_of_its_own_is_met(make_run, tmp_path):
    pairs, other = write(tmp_path / "pairs.csv", range(50)), write(tmp_path / "other.csv", range(50, 60))
    run = make_run(pairs, validation=other)
    assert leaked_questions(run, load_pairs(pairs)) == 50
    assert leaked_questions(run, load_pairs(other)) == 0


def test_a_question_is_the_same_however_it_is_composed_and_spaced_and_counted_once(make_run, folder):
    asked = [unicodedata.normalize("NFD", " 질문 7 "), "질문 8", " 질문 8 ", "질문 1000"]
    assert leaked_questions(make_run(folder), pd.DataFrame({"question": asked})) == 2


def test_a_corpus_that_is_gone_or_was_never_a_file_tells_nothing(make_run, folder, small_run, small_pairs):
    run = make_run(folder)
    for file in folder.iterdir():
        file.unlink()
    assert leaked_questions(run, pd.DataFrame({"question": ["질문 7"]})) is None
    folder.rmdir()
    assert leaked_questions(run, pd.DataFrame({"question": ["질문 7"]})) is None
    assert leaked_questions(Run(small_run), small_pairs) is None


def test_nothing_is_downloaded_for_it(make_run, folder, made_up_corpus, monkeypatch):
    monkeypatch.setattr(catalog, "fetch", None)
    run, name = make_run(folder), made_up_corpus("Q,A\n").name
    for source in ({"corpus": [name]}, {"corpus": [str(folder)], "validation": [name]}):
        run.corpus["source"] = source
        assert leaked_questions(run, pd.DataFrame({"question": ["질문 7"]})) is None


def test_a_question_of_a_conversation_was_met_only_after_the_same_opening(make_run, tmp_path):
    """The splits of a corpus go by the openings, so that later questions may stand in several splits."""
    path = tmp_path / "talks.jsonl"
    talks = [{"turns": [f"질문 {i}", "네", "왜?", "그냥"]} for i in range(300)]
    path.write_text("\n".join(map(json.dumps, talks)), "utf-8")
    run, corpus = make_run(path), Corpus(path)
    for splits in corpus.splits():
        assert leaked_questions(run, splits["test"]) == 0
        # Of three questions a conversation, the first is its own and the other two are those of all.
        assert leaked_questions(run, splits["train"]) == len(splits["train"]) / 3 + 2


def test_it_is_said_how_many(make_run, folder, recwarn):
    run = make_run(folder)
    assert warn_of_leakage(run, load_pairs(folder / "test.csv")) == 0
    assert not recwarn
    message = r"run: 100 of 100 questions are in its training data: the scores do not measure unseen questions$"
    with pytest.warns(CorpusWarning, match=message):
        assert warn_of_leakage(run, load_pairs(folder / "train.csv")) == 100
