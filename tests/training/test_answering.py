"""When a run gets its datastore, how the end of training chooses the way of answering, and what it keeps."""

import shutil

import pandas as pd
import pytest

from keras_transformer import Chatbot, Config, InputError, Run
from keras_transformer.chat.answering import Answering
from keras_transformer.chat.datastore import CORRECTIONS, Datastore, Exchange, Match, read_exchanges
from keras_transformer.data.corpus import Corpus
from keras_transformer.runs.checksums import remove_recorded
from keras_transformer.training import answering
from keras_transformer.training.answering import (
    as_exchanges,
    background,
    choose_answering,
    draw_questions,
    exchanges_of,
    in_words,
    index_memorized,
    prepare_answers,
)

pytestmark = pytest.mark.heavy


class Bot:
    """Generates and finds what it is told: for each question the two answers and the similarity, None for no match."""

    def __init__(self, memorized=False, **known):
        self.memorized, self.known = memorized, known

    def n_best(self, questions):
        return [[(self.known[question][0], -1.0)] for question in questions]

    def matches(self, questions, generation=None):
        found = (self.known[question] for question in questions)
        return [[] if one[2] is None else [Match(Exchange("?", one[1]), one[2])] for one in found]


ASKED = {"a": ["right"], "b": ["right"]}


@pytest.mark.parametrize(
    ("known", "chosen"),
    [
        ({"a": ("right", "wrong", 0.9), "b": ("right", "wrong", 0.2)}, "generate"),
        ({"a": ("no", "right", 0.9), "b": ("no", "right", 0.2)}, "retrieve"),
        ({"a": ("no", "right", 0.9), "b": ("right", "no", 0.2)}, "hybrid"),
        ({"a": ("right", "right", 0.9), "b": ("right", "right", 0.2)}, "retrieve"),  # Of equals the one that is cited.
        ({"a": ("no", "right", 0.9), "b": ("right", "", None)}, "retrieve"),  # Nothing is near: it generates.
    ],
)
def test_the_way_with_the_highest_chrf_is_chosen(known, chosen):
    assert choose_answering(Bot(**known), ASKED).way == chosen


def test_hybrid_begins_to_retrieve_where_it_is_best():
    found = choose_answering(Bot(a=("no", "right", 0.72), b=("right", "no", 0.66)), ASKED)
    assert found == Answering("hybrid", 0.7, {"generate": 50.0, "retrieve": 50.0, "hybrid": 100.0}, 2)
    assert in_words(found) == (
        "Answers by hybrid: chrF over 2 validation questions is generate 50.0, retrieve 50.0, hybrid 100.0."
    )


def test_a_memorized_corpus_is_retrieved_unless_generating_is_far_better():
    nearly = {"a": ("It is open until nine.", "It is open until nine!", 0.9)}
    asked = {"a": ["It is open until nine."]}
    assert choose_answering(Bot(**nearly), asked).way == "generate"
    chosen = choose_answering(Bot(memorized=True, **nearly), asked)
    assert chosen.way == "retrieve"
    assert in_words(chosen, memorized=True) == "Answers by retrieve: those of the corpus, word for word."
    assert choose_answering(Bot(memorized=True, a=("right", "wrong", 0.9)), {"a": ["right"]}).way == "generate"


def test_without_a_question_it_generates():
    found = choose_answering(Bot(), {})
    assert found == Answering()
    assert in_words(found) == "Answers by generate: there is no validation question to choose by."


def test_exchanges_know_their_file_and_row_and_others_are_numbered():
    pairs = pd.DataFrame({"question": ["a", "b"], "answer": ["A", "B"]})
    assert list(as_exchanges(pairs)) == [Exchange("a", "A", None, 1), Exchange("b", "B", None, 2)]
    pairs = pairs.assign(file=["x.csv", None], row=[7.0, None])
    assert list(as_exchanges(pairs)) == [Exchange("a", "A", "x.csv", 7), Exchange("b", "B", None, 2)]


def test_each_validation_question_is_asked_once_and_without_any_it_is_noisy_training_questions(monkeypatch):
    pairs = pd.DataFrame({"question": ["밥 먹었어요", " 밥 먹었어요", "잘 자요"], "answer": ["a", "b", "c"]})
    assert draw_questions(pairs, Config()) == {"밥 먹었어요": ["a", "b"], "잘 자요": ["c"]}
    noisy = draw_questions(pairs, Config(hold_out=False))
    assert noisy
    assert not set(noisy) & set(pairs["question"])
    monkeypatch.setattr(answering, "NUM_QUESTIONS", 1)
    assert len(draw_questions(pairs, Config())) == 1


def test_a_small_run_has_its_exchanges_and_keeps_what_it_was_taught(small_run, small_pairs, tmp_path, monkeypatch):
    shutil.copytree(small_run, tmp_path / "run")
    bot, run, corpus = Chatbot.load(tmp_path / "run"), Run(tmp_path / "run"), Corpus(small_pairs)
    exchanges, validation = exchanges_of(run, corpus)
    assert exchanges == read_exchanges(run.path / "datastore.jsonl")
    assert not {one.question for one in exchanges} & set(validation["question"])
    bot.datastore.teach("hello", "Howdy!")
    assert prepare_answers(run, corpus).startswith("Answers by ")
    assert (run.path / CORRECTIONS).is_file()
    assert Chatbot.load(run.path).reply("hello") == "Howdy!"

    monkeypatch.setattr(answering, "MOST_EXCHANGES", 10)
    assert prepare_answers(run, corpus) == ("More than 10 exchanges: answers are generated, without a datastore.")
    assert Answering.load(run.path).way == "generate"


@pytest.mark.parametrize("memorized", [True, False])
def test_what_memorizes_its_corpus_retrieves_before_its_training_ends(small_run, small_pairs, tmp_path, memorized):
    run = Run(shutil.copytree(small_run, tmp_path / "run"))
    run.change_config(run.config.replace(hold_out=not memorized))
    for name in ("answering.json", "datastore.jsonl", "summary.json"):
        remove_recorded(run.path / name)
    assert index_memorized(run, Corpus(small_pairs)) is memorized
    assert Datastore.exists(run.path) is memorized
    bot = Chatbot.load(run.path)
    assert bot.answering == Answering("retrieve" if memorized else "generate")
    assert bot.reply("good night") == "Sleep well."
    remove_recorded(run.path / "weights.safetensors")  # As before the first epoch has ended.
    if memorized:
        assert Chatbot.load(run.path).reply("good night") == "Sleep well."
    else:
        with pytest.raises(InputError, match=r"weights\.safetensors: missing"):
            Chatbot.load(run.path)


def test_an_interrupted_training_is_not_indexed_again_unless_its_index_is_damaged(
    small_run, small_pairs, tmp_path, monkeypatch
):
    run = Run(shutil.copytree(small_run, tmp_path / "run"))
    run.change_config(run.config.replace(hold_out=False))
    corpus, indexed = Corpus(small_pairs), []
    assert not index_memorized(run, corpus)  # It is finished: what is trained longer is indexed anew in the end.
    monkeypatch.setattr(answering, "index", lambda run, exchanges: indexed.append(len(exchanges)))
    remove_recorded(run.path / "summary.json")
    assert index_memorized(run, corpus) and not indexed
    prepare_answers(run, corpus, indexed=True)
    assert not indexed
    (run.path / "datastore.safetensors").write_bytes(b"damaged")
    assert index_memorized(run, corpus) and indexed


@pytest.mark.parametrize(("most", "is_small"), [(10**6, True), (1, False)])
def test_a_small_corpus_is_learned_beside_everyday_questions(
    small_run, small_pairs, tmp_path, monkeypatch, most, is_small
):
    shutil.copytree(small_run, tmp_path / "run")
    given = []
    monkeypatch.setattr(answering, "SMALL_CORPUS", most)
    learn = answering.learn_embeddings
    monkeypatch.setattr(answering, "learn_embeddings", lambda *args: given.append(args[-1]) or learn(*args[:-1]))
    prepare_answers(Run(tmp_path / "run"), Corpus(small_pairs))
    assert bool(given[0]) == is_small


def test_the_background_is_of_everyday_intents_in_the_language_of_the_corpus():
    questions, answers = background(["배송 언제 와요"])
    assert len(questions) == len(answers) > 10_000
    assert not any(one.isascii() for one in answers)
    first = answers.index(answers[1])
    assert questions[first] == answers[first] == answers[first + 1] != questions[first + 1]
    assert background(["12 + 30"]) == ()
