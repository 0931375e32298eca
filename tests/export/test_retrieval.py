"""The program that finds exchanges beside an ONNX or LiteRT model, without a model."""

import ast
import json
import runpy
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer

from keras_transformer import Chatbot
from keras_transformer.chat import question_index
from keras_transformer.chat.answering import Answering
from keras_transformer.chat.datastore import Exchange
from keras_transformer.export.sidecar import RETRIEVER, write_retrieval
from keras_transformer.text import character_ngrams, normalize

pytestmark = pytest.mark.heavy

PROGRAM = runpy.run_path(str(RETRIEVER))
TEXTS = [
    "배고파", "hello there", "a b", "?!", "ＡＢＣ", "🙂👍🏽", "漢字 かな", "İstanbul", "ΟΔΟΣ Σ", "tiếng Việt",
    "a漢", "",
]  # fmt: skip


@pytest.fixture
def ask_files(tmp_path):
    """A function that writes what a chatbot retrieves from and asks it: from questions to what each is answered."""

    def ask(bot, questions):
        assert write_retrieval(bot, tmp_path)
        retriever = PROGRAM["Retriever"](tmp_path)
        return [retriever.answer(question) for question in questions]

    return ask


def assert_as_the_run(found, bot, questions):
    for question, one, near in zip(questions, found, bot.matches(questions), strict=True):
        assert (one is not None) == bot.retrieves(near, bot.answering.way), question
        if one is not None:
            assert one == (near[0].exchange.answer, pytest.approx(near[0].similarity, abs=1e-4)), question


@pytest.mark.parametrize("answering", [Answering("retrieve"), Answering("hybrid", 0.6)], ids=str)
def test_it_retrieves_what_the_run_retrieves(make_bot, ask_files, questions, answering):
    bot = make_bot(answering)
    found = ask_files(bot, questions)
    assert_as_the_run(found, bot, questions)
    assert {one is None for one in found} == {True, False}


def test_exactly_the_question_comes_first_and_of_several_the_first_added(make_bot, ask_files):
    found = ask_files(make_bot(Answering("retrieve")), ["배고파", "Hello", "hello", " 잘  자"])
    assert found == [("밥 먹어요.", 1.0), ("Good day!", 1.0), ("Hi there!", 1.0), ("좋은 꿈 꾸세요.", 1.0)]


def test_characters_that_no_question_has_and_blank_questions_find_nothing(make_bot, ask_files):
    assert ask_files(make_bot(Answering("retrieve")), ["漢字", "", " "]) == [None] * 3


def test_a_memorized_corpus_has_no_answer_to_them_and_generates_none(make_bot, ask_files):
    bot = make_bot(Answering("retrieve"))
    bot.memorized = True
    assert ask_files(bot, ["漢字", "배고파"]) == [("", 0.0), ("밥 먹어요.", 1.0)]


def test_corrections_are_part_of_it(make_bot, ask_files, questions):
    bot = make_bot(Answering("retrieve"))
    bot.datastore.teach("배고파", "따뜻한 국밥 어때요?")
    bot.datastore.teach("漢字", "한자네요.")
    bot.datastore.forget("hello")
    found = ask_files(bot, questions)
    assert_as_the_run(found, bot, questions)
    assert dict(zip(questions, found))["배고파"] == ("따뜻한 국밥 어때요?", 1.0)
    assert dict(zip(questions, found))["漢字"] == ("한자네요.", 1.0)
    assert dict(zip(questions, found))["hello"][0] == "Good day!"


def test_where_the_run_generates_only_what_was_taught_is_retrieved(make_bot, ask_files, tmp_path):
    bot = make_bot(Answering("generate"))
    assert not write_retrieval(bot, tmp_path / "nothing")  # Which is not there.
    bot.datastore.teach("오늘 날씨 어때?", "비가 와요.\u2028")
    questions = ["오늘 날씨 어때?", "오늘 날씨 어때", "오늘 뭐 해", "배고파"]
    found = ask_files(bot, questions)
    assert_as_the_run(found, bot, questions)
    assert [one and one[0] for one in found] == ["비가 와요.", "비가 와요.", None, None]
    lines = (tmp_path / "exchanges.jsonl").read_text("utf-8").split("\n")
    assert [json.loads(line)["least_similarity"] for line in lines if line] == [None] * 11 + [0.7]


def test_without_a_datastore_nothing_is_written(make_bot, tmp_path):
    bot = make_bot(Answering("retrieve"))
    assert not write_retrieval(Chatbot(bot.model, bot.tokenizer, 24), tmp_path / "nothing")


def test_more_questions_than_are_compared_by_embeddings(make_bot, ask_files, exchanges):
    random = np.random.default_rng(0)
    words = [one.question for one in exchanges]
    bot = make_bot(Answering("retrieve"), [Exchange(" ".join(random.choice(words, 3)), str(i)) for i in range(500)])
    questions = ["hello you", "배고파 잘 자", "오늘 날씨", "you are 🙂", "이별했어 hello 오늘"]
    assert_as_the_run(ask_files(bot, questions), bot, questions)


@given(st.text(max_size=40))
def test_texts_are_normalized_and_cut_as_in_the_package(text):
    assert PROGRAM["normalize"](text) == normalize.normalize(text)
    assert PROGRAM["character_ngrams"](text) == character_ngrams.character_ngrams(text)


def test_ngrams_are_counted_where_scikit_learn_counts_them():
    ngrams = ["", "abcde", "x" * 1000, *(one for text in TEXTS for one in PROGRAM["character_ngrams"](text))]
    counter = HashingVectorizer(n_features=PROGRAM["FEATURES"], analyzer=lambda text: [text], alternate_sign=False)
    assert [PROGRAM["column_of"](one) for one in ngrams] == counter.transform(ngrams).indices.tolist()


def test_it_weighs_as_the_package_does():
    for name in ("FEATURES", "CANDIDATES"):
        assert PROGRAM[name] == getattr(question_index, name)


def test_it_imports_no_package_but_numpy():
    tree = ast.parse(RETRIEVER.read_text("utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert names - sys.stdlib_module_names == {"numpy"}
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))
