"""What was taught in a run goes into the next training."""

import shutil

import pandas as pd
import pytest

from keras_transformer import Chatbot, InputError, Run, train
from keras_transformer.chat.datastore import Exchange, read_exchanges
from keras_transformer.evaluation.leakage import leaked_questions
from keras_transformer.training.corrections import CorrectedCorpus, check_corrections, corrected, with_taught

pytestmark = pytest.mark.heavy

TAUGHT = {"question": "배고파", "answer": "빵은요?"}
FORGOTTEN = {"question": "bye", "forgotten": True}


class Corpus:
    """Two chunks, each of training pairs and validation pairs."""

    def __init__(self, **columns):
        self.columns = columns

    def splits(self, turns=1, hold_out=True):
        for first in (["배고파", "hello"], ["bye", " 배고파"]):
            pairs = pd.DataFrame({"question": first, "answer": ["A", "B"]}).assign(**self.columns)
            yield {"train": pairs, "validation": pairs}


def rows(splits, name):
    return [list(split[name][["question", "answer"]].itertuples(index=False, name=None)) for split in splits]


def test_training_pairs_are_corrected_and_validation_is_as_it_was():
    found = list(CorrectedCorpus(Corpus(file="x.csv", row=5), [TAUGHT, FORGOTTEN]).splits())
    assert rows(found, "train") == [[("hello", "B"), ("배고파", "빵은요?")], []]
    assert rows(found, "validation") == rows(Corpus().splits(), "validation")
    assert list(found[0]["train"]["file"]) == ["x.csv", "corrections.jsonl"]
    assert list(found[0]["train"]["row"]) == [5, 1]
    assert "opening" not in found[0]["train"]


def test_where_validation_repeats_the_training_it_is_corrected_too():
    found = list(CorrectedCorpus(Corpus(), [TAUGHT, FORGOTTEN]).splits(hold_out=False))
    assert rows(found, "validation") == rows(found, "train") == [[("hello", "B"), ("배고파", "빵은요?")], []]


def test_the_last_correction_of_a_question_counts():
    again = {"question": "배고파", "forgotten": True}
    assert rows(CorrectedCorpus(Corpus(), [TAUGHT, again]).splits(), "train") == [[("hello", "B")], [("bye", "A")]]


def test_without_corrections_a_corpus_is_itself():
    corpus = Corpus()
    assert corrected(corpus, []) is corrected(corpus, None) is corpus


def test_the_next_run_is_trained_on_them_and_notes_them(small_run, small_pairs, tmp_path):
    shutil.copytree(small_run, tmp_path / "parent")
    parent = Chatbot.load(tmp_path / "parent")
    parent.datastore.teach("hello", "좋은 꿈 꾸세요.")
    parent.datastore.forget("bye")
    config = Run(small_run).config.replace(epochs=1)
    summary = train(small_pairs, tmp_path / "next", config, tmp_path / "parent")
    run = Run(tmp_path / "next")
    noted = [{"question": "hello", "answer": "좋은 꿈 꾸세요."}, {"question": "bye", "forgotten": True}]
    assert run.corpus["corrections"] == noted
    exchanges = read_exchanges(run.path / "datastore.jsonl")
    assert [one for one in exchanges if one.question in ("hello", "bye")] == [
        Exchange("hello", "좋은 꿈 꾸세요.", "corrections.jsonl", 1)
    ]
    assert Chatbot.load(run.path).reply("hello") == "좋은 꿈 꾸세요."
    assert leaked_questions(run, pd.DataFrame({"question": ["hello"]})) is None  # Pairs made in memory.

    parent.datastore.teach("good night", "Bye!")  # It does not change what has begun.
    again = train(small_pairs, tmp_path / "next", config.replace(epochs=2), tmp_path / "parent")
    assert (summary["epochs"], again["epochs"]) == (1, 2)
    assert Run(tmp_path / "next").corpus["corrections"] == noted
    assert not any(one.question == "good night" and one.answer == "Bye!" for one in exchanges)
    with pytest.raises(InputError, match="the corrections of its parent run have just changed"):
        check_corrections(run, noted[:1])


def test_taught_questions_and_answers_follow_those_of_the_corpus():
    pairs = pd.DataFrame({"question": ["hello"], "answer": ["Hi!"]})
    assert with_taught(pairs, [TAUGHT, FORGOTTEN]) == {"question": ["hello", "배고파"], "answer": ["Hi!", "빵은요?"]}
