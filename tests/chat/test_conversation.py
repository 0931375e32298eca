"""What a bot says in place of an answer; the bot is a stand-in."""

import argparse
import dataclasses

import pytest

from keras_transformer.chat.conversation import Guidance, courteous_answer, guidance
from keras_transformer.chat.courtesies import COURTESIES
from keras_transformer.chat.datastore import Exchange, Match

OPEN, WHEN, WHERE = Exchange("언제 열어?", "아홉 시"), Exchange("몇 시에 열어?", "아홉 시"), Exchange("어디야?", "서울")
GREETING, THANKS = COURTESIES[:2]


@dataclasses.dataclass
class Bot:
    """A bot that memorized three exchanges, with the `Match`es of every question."""

    near: tuple = ()
    memorized: bool = True
    turns: int = 1
    datastore: argparse.Namespace = dataclasses.field(
        default_factory=lambda: argparse.Namespace(exchanges=lambda: iter([OPEN, WHEN, WHERE]))
    )

    def matches(self, questions, generation=None):
        return [list(self.near)]

    def retrieves(self, near, way):
        return True


def guide(question, *near, way="retrieve"):
    return guidance(Bot(near), question, question, way)


def test_a_known_question_needs_none():
    assert guide("언제 열어?", Match(OPEN, 1.0)) is None
    assert guide("언제 열려?", Match(OPEN, 0.5)) is None


def test_the_nearest_questions_of_one_that_is_not_known():
    near = Match(WHERE, 0.4), Match(OPEN, 0.3), Match(WHERE, 0.2)
    assert guide("주차 돼?", *near) == Guidance("", ("어디야?", "언제 열어?"), near)


def test_examples_have_different_answers():
    assert guide("zzz") == Guidance("", ("언제 열어?", "어디야?"))


def test_a_courtesy_is_replied_to_even_if_something_is_similar():
    assert guide("안녕하세요", Match(WHERE, 0.6)) == Guidance(GREETING.reply, ("언제 열어?", "어디야?"))
    assert guide("고마워", Match(OPEN, 0.6)) == Guidance(THANKS.reply)


def test_the_reply_to_a_courtesy_is_an_answer_that_names_examples():
    answer = courteous_answer(Bot(), "안녕하세요!", "retrieve")
    assert answer.text.splitlines() == [GREETING.reply, "- 언제 열어?", "- 어디야?"]
    assert (answer.answered_by, answer.unsure, answer.score) == ("courtesy", False, None)
    assert courteous_answer(Bot(), "배송비 얼마예요?", "retrieve") is None
    assert courteous_answer(Bot(), "안녕하세요!", "generate") is None


def test_of_several_turns_the_last_is_replied_to():
    conversation = "배송비 얼마예요?\n3,000원입니다.\n고마워요"
    assert courteous_answer(Bot(turns=3), conversation, "retrieve").text == THANKS.reply
    assert courteous_answer(Bot(turns=3), "고마워요\n3,000원입니다.", "retrieve") is None
    assert courteous_answer(Bot(), conversation, "retrieve") is None
    assert courteous_answer(Bot(turns=3), "\n", "retrieve") is None


def test_a_courtesy_that_the_corpus_answers_is_a_question_like_any_other():
    own = Exchange("안녕", "어서 오세요.")
    assert guide("안녕하세요", Match(own, 0.6)) is None


def test_two_questions_that_are_as_near_with_different_answers_are_both_offered():
    points, parcel = (
        Exchange("적립금은 언제 들어와요?", "사흘 뒤예요."),
        Exchange("배송은 며칠 걸리나요?", "이틀이에요."),
    )
    both = (points.question, parcel.question)
    assert guide("배송 언제 와요", Match(points, 0.6), Match(parcel, 0.57)).questions == both
    assert guide("배송 언제 와요", Match(points, 0.6), Match(parcel, 0.55)) is None
    assert guide("적립금 언제 와요", Match(points, 0.8), Match(parcel, 0.79)) is None
    same = Exchange("배송 얼마나 걸려요?", parcel.answer)
    assert guide("배송 언제 와요", Match(parcel, 0.6), Match(same, 0.6)) is None


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_said_about_a_blank_question(text):
    assert guide(text) is None


def test_a_bot_that_generates_or_did_not_memorize_answers_itself():
    assert guide("안녕", way="generate") is None
    assert guidance(Bot(memorized=False), "안녕", "안녕", "retrieve") is None
