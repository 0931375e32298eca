import numpy as np
import pytest

from keras_transformer import Beam, Chatbot, GenerationConfig, InputError
from keras_transformer.chat.attention_trace import trace_attention


@pytest.fixture(scope="module")
def bot(small_run):
    return Chatbot.load(small_run)


def test_tokens_are_those_of_the_texts(bot):
    found = trace_attention(bot, "안녕하세요")
    assert found.question[0] == "<start>" and found.question[-1] == found.answer[-1] == "<end>"
    assert "".join(found.question[1:-1]).replace("▁", "") == "안녕하세요"
    assert "".join(found.answer[:-1]).replace("▁", "") == "반가워요!"
    assert found.decoder_input == ["<start>", *found.answer[:-1]]
    assert found.question_text == "안녕하세요"
    assert found.answers[0][0] == bot.reply("안녕하세요") == "반가워요!"


def test_the_answer_grows_with_its_spaces(bot):
    found = trace_attention(bot, "잘 자")
    assert len(found.partial_answers) == len(found.answer)
    assert found.partial_answers[-1] == found.partial_answers[-2] == "좋은 꿈 꾸세요."  # The end writes nothing.
    assert all(after.startswith(before) for before, after in zip(found.partial_answers, found.partial_answers[1:]))
    assert "좋은 꿈" in found.partial_answers or "좋은 꿈 " in found.partial_answers


def test_every_token_shares_out_its_whole_attention(bot):
    found = trace_attention(bot, "thank you")
    asked, made = len(found.question), len(found.answer)
    assert found.encoder.shape == (1, 2, asked, asked)
    assert found.decoder.shape == (1, 2, made, made)
    assert found.cross.shape == (1, 2, made, asked)
    for weights in (found.encoder, found.decoder, found.cross):
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert not np.triu(found.decoder, 1).any()  # No token looks at a later one.


def test_several_answers_and_the_attention_of_the_first(bot):
    two = GenerationConfig(Beam(num_beams=3), num_return=2)
    found = trace_attention(bot, "bye", two)
    assert [text for text, _ in found.answers] == [text for text, _ in bot.n_best(["bye"], two)[0]]
    assert len(found.answer) == found.cross.shape[2]


def test_nothing_is_attended_in_a_blank_question(bot):
    with pytest.raises(InputError, match="the question is blank"):
        trace_attention(bot, " ")
