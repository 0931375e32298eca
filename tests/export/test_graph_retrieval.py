import types

import numpy as np
import pytest
import tensorflow as tf

from keras_transformer import Chatbot
from keras_transformer.chat.answering import Answering
from keras_transformer.chat.datastore import Exchange
from keras_transformer.export.graph_retrieval import GraphRetrieval
from keras_transformer.export.graph_text import GraphText
from keras_transformer.export.retrieval_index import may_retrieve
from keras_transformer.export.saved_model import ServingModule
from keras_transformer.text.core_ops import CoreTokenizer

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def text(tokenizer):
    config = types.SimpleNamespace(max_length=24, turns=1)
    run = types.SimpleNamespace(tokenizer=tokenizer, target_tokenizer=tokenizer, config=config)
    return GraphText(run, CoreTokenizer)


@pytest.fixture
def graph_of(text):
    """A function that makes the graph of a chatbot: from questions to answers, if retrieved, and similarities."""

    def make(bot):
        retrieval = GraphRetrieval(bot, text)
        function = tf.function(
            lambda questions: retrieval(questions, text.encode(questions)),
            [tf.TensorSpec((None,), tf.string)],
            autograph=False,
        )

        def ask(questions):
            found = function(tf.constant(questions, tf.string))
            answers = (answer.decode() for answer in found["answers"].numpy())
            return list(zip(answers, found["retrieved"].numpy().tolist(), found["similarities"].numpy().tolist()))

        return ask

    return make


def assert_as_the_run(found, bot, questions):
    for question, (answer, retrieved, similarity), near in zip(questions, found, bot.matches(questions), strict=True):
        assert retrieved == bot.retrieves(near, bot.answering.way), question
        assert answer == (near[0].exchange.answer if retrieved else ""), question
        assert similarity == pytest.approx(near[0].similarity if near else 0, abs=1e-4), question


@pytest.mark.parametrize("answering", [Answering("retrieve"), Answering("hybrid", 0.6)], ids=str)
@pytest.mark.variants(1)
def test_it_retrieves_what_the_run_retrieves(make_bot, graph_of, questions, answering):
    bot = make_bot(answering)
    ask = graph_of(bot)
    found = ask(questions)
    assert_as_the_run(found, bot, questions)
    assert {retrieved for _, retrieved, _ in found} == {True, False}
    for number in range(0, len(questions), 9):
        [(answer, retrieved, similarity)] = ask(questions[number : number + 1])
        assert (answer, retrieved, pytest.approx(similarity, abs=1e-4)) == found[number]


def test_exactly_the_question_comes_first_and_of_several_the_first_added(make_bot, graph_of):
    found = graph_of(make_bot(Answering("retrieve")))(["배고파", "Hello", "hello", " 잘  자"])
    assert found == [
        ("밥 먹어요.", True, 1.0), ("Good day!", True, 1.0), ("Hi there!", True, 1.0), ("좋은 꿈 꾸세요.", True, 1.0),
    ]  # fmt: skip


def test_characters_that_no_question_has_and_blank_questions_find_nothing(make_bot, graph_of):
    ask = graph_of(make_bot(Answering("retrieve")))
    assert ask(["漢字", "", " "]) == [("", False, 0.0)] * 3
    assert ask([]) == []


def test_a_memorized_corpus_has_no_answer_to_them_and_generates_none(make_bot, graph_of):
    bot = make_bot(Answering("retrieve"))
    bot.memorized = True
    assert graph_of(bot)(["漢字", "", "배고파"]) == [("", True, 0.0), ("", False, 0.0), ("밥 먹어요.", True, 1.0)]


def test_corrections_are_part_of_it(make_bot, graph_of, questions):
    bot = make_bot(Answering("retrieve"))
    bot.datastore.teach("배고파", "따뜻한 국밥 어때요?")
    bot.datastore.teach("漢字", "한자네요.")
    bot.datastore.forget("hello")
    found = graph_of(bot)(questions)
    assert_as_the_run(found, bot, questions)
    assert dict(zip(questions, found))["배고파"] == ("따뜻한 국밥 어때요?", True, 1.0)
    assert dict(zip(questions, found))["漢字"] == ("한자네요.", True, 1.0)
    assert dict(zip(questions, found))["hello"][0] == "Good day!"


def test_where_the_run_generates_only_what_was_taught_is_retrieved(make_bot, graph_of):
    bot = make_bot(Answering("generate"))
    assert not may_retrieve(bot)
    bot.datastore.teach("오늘 날씨 어때?", "비가 와요.")
    assert may_retrieve(bot)
    questions = ["오늘 날씨 어때?", "오늘 날씨 어때", "오늘 뭐 해", "배고파"]
    found = graph_of(bot)(questions)
    assert_as_the_run(found, bot, questions)
    assert [answer for answer, _, _ in found] == ["비가 와요.", "비가 와요.", "", ""]


def test_without_anything_to_find_it_generates(make_bot, exchanges):
    bot = make_bot(Answering("retrieve"), exchanges[:1])
    assert may_retrieve(bot)
    bot.datastore.forget("배고파")
    assert not may_retrieve(bot)
    assert not may_retrieve(Chatbot(bot.model, bot.tokenizer, 24))


def test_more_questions_than_are_compared_by_embeddings(make_bot, graph_of, exchanges):
    random = np.random.default_rng(0)
    words = [one.question for one in exchanges]
    exchanges = [Exchange(" ".join(random.choice(words, 3)), str(number)) for number in range(500)]
    bot = make_bot(Answering("retrieve"), exchanges)
    questions = ["hello you", "배고파 잘 자", "오늘 날씨", "you are 🙂", "이별했어 hello 오늘"]
    assert_as_the_run(graph_of(bot)(questions), bot, questions)


def test_nothing_is_searched_for_where_all_questions_have_an_answer():
    def search(ids):
        raise AssertionError("searched")

    module = ServingModule(None, search, None)
    inputs, answers = tf.constant([[1, 2], [0, 0]]), tf.constant(["밥 먹어요.", ""])
    similarities = tf.constant([0.9, 0.0])
    found = module.completed(inputs, answers, tf.constant([True, False]), similarities)
    assert [answer.decode() for answer in found["answers"].numpy()] == ["밥 먹어요.", ""]
    assert found["scores"].numpy().tolist() == [0, 0]
    with pytest.raises(AssertionError, match="searched"):
        module.completed(inputs, answers, tf.constant([False, False]), similarities)
