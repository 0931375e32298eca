import pytest

from keras_transformer import Chatbot

QUESTIONS = ["잘 자", "hello", "", "고마워!", "good night", "배고파", "   ", "bye", "안녕하세요"]
ANSWERS = [
    "좋은 꿈 꾸세요.",
    "Hi there!",
    "",
    "천만에요.",
    "Sleep well.",
    "밥 먹어요.",
    "",
    "See you soon!",
    "반가워요!",
]


@pytest.fixture(scope="module")
def bot(small_run):
    return Chatbot.load(small_run)


def test_it_answers_what_it_learnt_in_the_order_asked(bot):
    assert bot.replies(QUESTIONS) == ANSWERS


def test_one_question_alone_is_answered_as_among_others(bot):
    assert [bot.reply(question) for question in QUESTIONS] == ANSWERS


def test_more_questions_than_a_batch_holds_keep_their_order(bot):
    assert bot.replies(QUESTIONS * 20) == ANSWERS * 20


def test_a_stream_joins_to_the_reply(bot):
    for question, answer in zip(QUESTIONS, ANSWERS):
        pieces = list(bot.stream(question))
        assert "".join(pieces) == answer
        assert all(pieces)
        assert "\ufffd" not in "".join(pieces)
    assert len(list(bot.stream("good night"))) > 1


def test_no_questions_have_no_answers(bot):
    assert bot.replies([]) == []


def test_a_question_of_any_length_has_an_answer(bot):
    assert isinstance(bot.reply("hello " * 2000), str)


def test_a_stream_never_shows_half_a_character(bot, monkeypatch):
    """An answer spelled in bytes: each character appears when its last byte has come, none before."""
    import numpy as np

    text = "뷁 😀"
    ids = bot.tokenizer.encode(text)
    assert len(ids) > 7

    def begin(model, inputs, **limits):
        state = {"ids": np.zeros((1, bot.max_length), int), "ended": np.array([False])}

        def advance(state, tokens):
            made = np.zeros((1, bot.max_length), int)
            made[0, :tokens] = [*ids, bot.tokenizer.end_id][:tokens]
            return {"ids": made, "ended": np.array([tokens > len(ids)])}

        return state, advance

    monkeypatch.setattr("keras_transformer.chatbot.begin", begin)
    pieces = list(bot.stream("hello"))
    assert "".join(pieces) == text
    assert all("\ufffd" not in piece for piece in pieces)
