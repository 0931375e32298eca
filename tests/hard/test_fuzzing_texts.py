"""Whatever text comes in: it is answered, or refused in one line."""

import warnings

import pytest
from hypothesis import strategies as st

from keras_transformer import Chatbot, InputError, Tokenizer
from keras_transformer.chat.answering import Answering
from keras_transformer.chat.datastore import EXCHANGES, read_exchanges
from keras_transformer.runs.checksums import remove_recorded
from keras_transformer.text.normalize import normalize
from keras_transformer.text.tokenizer import KINDS

from .conftest import damaged, texts, unicode_texts

pytestmark = pytest.mark.slow
CORPUS = ["배고파", "밥 먹어요.", "hello", "Hi there!", "잘 자 ~", "좋은 꿈 꾸세요.", "3 + 4 = ?", "é 漢 🙂"]


def test_tokenizing_any_text(fuzz):
    tokenizers = [Tokenizer.train(CORPUS, 320, kind, jamo) for kind in KINDS for jamo in (False, True)]

    def check(case):
        text, which = case
        tokenizer = tokenizers[which]
        try:
            ids = tokenizer.encode(text)
        except InputError:
            with pytest.raises(UnicodeEncodeError):
                text.encode()
            return
        assert all(0 <= i < tokenizer.vocab_size for i in ids)
        assert tokenizer.encode([text, "잘 자"])[0] == ids
        if not tokenizer.unknown(text) and "▁" not in text:
            assert tokenizer.decode(ids) == tokenizer.normal_form(text)

    fuzz(st.tuples(texts, st.integers(0, len(tokenizers) - 1)), check, 0.22)


def test_decoding_any_ids(fuzz):
    tokenizers = [Tokenizer.train(CORPUS, 320, kind, jamo) for kind in KINDS for jamo in (False, True)]
    ids = st.one_of(st.integers(0, 330), st.integers(-(2**40), 2**40))

    def check(case):
        rows, which = case
        try:
            decoded = tokenizers[which].decode(rows)
        except InputError:
            return
        decoded.encode()

    fuzz(st.tuples(st.lists(ids, max_size=8), st.integers(0, len(tokenizers) - 1)), check, 0.15)


def test_training_tokenizers_on_any_texts(fuzz):
    def check(case):
        corpus, size, kind, jamo = case
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # Of texts that a small vocabulary leaves unknown.
                tokenizer = Tokenizer.train(corpus, size, kind, jamo)
        except InputError as error:
            assert "\n" not in str(error)
            return
        for text in corpus:
            if not tokenizer.unknown(text) and "▁" not in text:
                assert tokenizer.decode(tokenizer.encode(text)) == tokenizer.normal_form(text)
        assert Tokenizer.of_file("again", tokenizer.model).encode(corpus) == tokenizer.encode(corpus)

    kinds = st.sampled_from([*KINDS, "none"])
    fuzz(st.tuples(st.lists(texts, max_size=5), st.integers(-1, 400), kinds, st.booleans()), check, 0.005)


def test_files_of_tokenizers(fuzz, tmp_path):
    path = tmp_path / "tokenizer.model"
    seeds = [Tokenizer.train(CORPUS, 320).model, b"### SubwordTextEncoder\n### Metadata: {}\n'a_'\n'b'\n'c_'\n"]

    def check(data):
        path.write_bytes(data)
        try:
            tokenizer = Tokenizer.load(path)
        except InputError as error:
            assert "\n" not in str(error)
            return
        tokenizer.decode(tokenizer.encode("배고파 hello a"))

    fuzz(st.sampled_from(seeds).flatmap(damaged), check, 0.02)


@pytest.fixture(scope="module")
def known(small_run):
    """The answers of the datastore to each question."""
    answers = {}
    for exchange in read_exchanges(small_run / EXCHANGES):
        answers.setdefault(normalize(exchange.question), []).append(exchange.answer)
    return answers


def test_chatbots_asked_anything(fuzz, run_copy, known):
    Answering("hybrid", 0.6).save(run_copy)
    chatbot = Chatbot.load(run_copy)
    chatbot.replies(["hello", "배고파 " * 9], answer_by="generate")  # Loads, imports and compiles.

    def check(case):
        question, way = case
        try:
            [answer, other] = chatbot.answers([question, "hello"], answer_by=way)
        except InputError as error:
            assert "\n" not in str(error)
            with pytest.raises(UnicodeEncodeError):
                question.encode()
            return
        assert other.text == "Hi there!"
        assert chatbot.reply(question, answer_by=way) == answer.text == "".join(chatbot.stream(question, answer_by=way))
        if not answer.composed:
            assert any(answer.text in answers for answers in known.values())
            assert answer.text in known.get(normalize(question), [answer.text])
        if not question.strip():
            assert answer.text == ""

    near = st.tuples(st.sampled_from(sorted(known)), texts).map("".join)
    questions = st.one_of(texts, near, st.sampled_from(sorted(known)))
    fuzz(st.tuples(questions, st.sampled_from(["generate", "retrieve", "hybrid"])), check, 0.015)


def test_teaching_and_forgetting_anything(fuzz, run_copy, known):
    """What was taught last is answered; what was forgotten is not; all else stays."""
    questions = st.one_of(texts, st.sampled_from(sorted(known)))
    steps = st.lists(st.one_of(st.tuples(questions, unicode_texts), st.tuples(questions)), max_size=6)
    file = run_copy / "corrections.jsonl"

    def check(changes):
        remove_recorded(file)
        datastore, taught, forgotten = Chatbot.load(run_copy).datastore, {}, set()
        for question, *answer in changes:
            key = normalize(question)
            try:
                former = datastore.teach(question, *answer) if answer else datastore.forget(question)
            except InputError as error:
                assert "\n" not in str(error)
                continue
            if answer:
                taught[key] = normalize(answer[0])
            elif key in taught:
                del taught[key]
            else:
                assert former
                forgotten.add(key)
        for store in (datastore, Chatbot.load(run_copy).datastore):
            for question, answer in taught.items():
                assert [normalize(text) for text in store.answers_to(question)] == [answer]
            for question, answers in known.items():
                if question not in taught:
                    expected = [] if question in forgotten else list(dict.fromkeys(answers))
                    assert store.answers_to(question) == expected
        remove_recorded(file)

    fuzz(steps, check, 0.005)
