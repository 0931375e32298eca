"""What the page shows of answers: markup in which the texts of corpora and visitors are text."""

import argparse
import dataclasses

import pytest

pytest.importorskip("gradio")

from keras_transformer.chat.answering import Answer
from keras_transformer.chat.datastore import Exchange, Match
from keras_transformer.errors import InputError
from keras_transformer.language import language_of_context
from keras_transformer.studio.curves import curves_svg
from keras_transformer.studio.page import in_language
from keras_transformer.studio.talk import Turn, answers, conversation, options_of, sources_of

EVIL = "<img src=x onerror=alert(1)>\"'&"
HARMLESS = "&lt;img src=x onerror=alert(1)&gt;"


def test_texts_are_escaped():
    match = Match(Exchange(EVIL, EVIL, EVIL, 3), 0.914)
    for markup in (
        conversation([Turn(EVIL, EVIL, suggested=(EVIL,))]),
        sources_of(Answer(EVIL, None, (match,))),
        curves_svg({EVIL: [(1, 2.0)]}),
    ):
        assert "<img" not in markup
        assert HARMLESS in markup


def test_a_source_is_file_row_and_similarity():
    markup = sources_of(Answer("아홉 시", None, (Match(Exchange("언제 열어?", "아홉 시", "faq.csv", 7), 0.914),)))
    assert markup.startswith('<p class="note">Retrieved from:</p>')
    assert "<td>0.91</td><td>faq.csv</td><td>7</td><td>언제 열어?</td><td>아홉 시</td>" in markup


class MemorizedBot:
    """Stands in for the `Chatbot` of a FAQ that reads three turns, and notes what it is asked."""

    turns, memorized, tokenizer = 3, True, argparse.Namespace(has_only_unknown=lambda text: text == "뷁")
    tokenizer.unknown = list
    known = Match(Exchange("언제 열어?", "아홉 시"), 0.3), Match(Exchange("어디야?", "서울"), 0.2)

    def __init__(self):
        self.asked = []
        self.datastore = argparse.Namespace(exchanges=lambda: (match.exchange for match in self.known))

    def way(self, *_how):
        return "retrieve"

    def retrieves(self, near, way):
        return "뷁" not in self.asked[-1]

    def matches(self, questions, generation=None):
        self.asked += questions
        sure = questions[0].splitlines()[-1] == "언제 열어?"
        return [(dataclasses.replace(self.known[0], similarity=1.0),) if sure else self.known]

    def stream(self, question, **_how):
        yield "아홉 시"
        return Answer("아홉 시", None, ())

    def candidates(self, questions, generation):
        return [[Answer("아홉 시", -0.5), Answer("열 시", -1.5)]]


def talk(*questions, n_best=1):
    """Returns what was said, and what the bot was asked last, after some questions."""
    bot, said = MemorizedBot(), []
    page = argparse.Namespace(studio=argparse.Namespace(bot=lambda _run: bot))
    for question in questions:
        *_before, (_chat, said, *_rest, asked) = answers(page, question, said, "faq", "", "greedy", 4, 1, n_best)
    return said, asked


def test_suggestions_are_buttons_and_no_turn_of_the_conversation():
    said, asked = talk("주차 돼?")
    assert said[0].suggested == ("언제 열어?", "어디야?") and asked == "주차 돼?"
    markup = conversation(said)
    assert '<button type="button">언제 열어?</button><button type="button">어디야?</button>' in markup
    said, asked = talk("주차 돼?", "언제 열어?")
    assert (asked, said[1]) == ("언제 열어?", Turn("언제 열어?", "아홉 시", "아홉 시"))
    assert talk("주차 돼?", "언제 열어?", "왜?")[1] == "언제 열어?\n아홉 시\n왜?"


def test_a_greeting_is_answered_with_examples_as_buttons():
    said, asked = talk("안녕하세요!", "왜?")
    assert said[0].shown == "안녕하세요! 예를 들어 이런 것을 물어보세요."
    assert said[0].suggested == ("언제 열어?", "어디야?")
    assert asked == f"안녕하세요!\n{said[0].shown}\n왜?"


def test_what_the_page_says_itself_is_no_turn_of_the_conversation():
    said, asked = talk("뷁", "왜?")
    assert said[0].shown == "I do not know any of these characters: 뷁" and asked == "왜?"
    said, asked = talk("언제 열어?", "왜?", n_best=2)
    assert said[0].shown == "1. 아홉 시  (-0.50)\n2. 열 시  (-1.50)" and asked == "언제 열어?\n아홉 시\n왜?"


def test_controls_are_the_options_of_the_command():
    default = options_of("", "greedy", 4, 1.0, 1)
    assert (default.answer_by, default.beam, default.sample, default.temperature, default.n_best) == (None,) * 2 + (
        False, None, None,
    )  # fmt: skip
    beam, sample = options_of("generate", "--beam", 3, 0.5, 1), options_of("", "--sample", 3, 0.5, 2)
    assert (beam.answer_by, beam.beam, beam.temperature) == ("generate", 3, None)
    assert (sample.beam, sample.sample, sample.temperature, sample.n_best) == (None, True, 0.5, 2)


def test_a_handler_speaks_the_language_of_its_page_in_every_step():
    import gradio

    from keras_transformer.language import translate as _

    def steps(evil):
        yield _("training")
        yield _("training")
        raise InputError(evil)

    generator = in_language("ko", steps)(EVIL)
    with language_of_context("en"):
        assert [next(generator), _("training"), next(generator)] == ["학습", "training", "학습"]
        with pytest.raises(gradio.Error) as error:
            next(generator)
    assert error.value.message.startswith(HARMLESS)


def test_curves_have_a_point_for_every_finite_number():
    svg = curves_svg({"training": [(1, 2.0), (2, float("nan")), (3, 0.0)]})
    assert '<polyline class="curve-1" points="44.0,12.0 628.0,184.0"/>' in svg
    assert curves_svg({"training": []}) == ""
