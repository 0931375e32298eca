"""What the page shows of answers: markup in which the texts of corpora and visitors are text."""

import pytest

pytest.importorskip("gradio")

from keras_transformer.chat.answering import Answer
from keras_transformer.chat.datastore import Exchange, Match
from keras_transformer.errors import InputError
from keras_transformer.language import language_of_context
from keras_transformer.studio.curves import curves_svg
from keras_transformer.studio.page import in_language
from keras_transformer.studio.talk import conversation, options_of, sources_of

EVIL = "<img src=x onerror=alert(1)>\"'&"
HARMLESS = "&lt;img src=x onerror=alert(1)&gt;"


def test_texts_are_escaped():
    match = Match(Exchange(EVIL, EVIL, EVIL, 3), 0.914)
    for markup in (
        conversation([EVIL, EVIL]),
        sources_of(Answer(EVIL, None, (match,))),
        curves_svg({EVIL: [(1, 2.0)]}),
    ):
        assert "<img" not in markup
        assert HARMLESS in markup


def test_a_source_is_file_row_and_similarity():
    markup = sources_of(Answer("아홉 시", None, (Match(Exchange("언제 열어?", "아홉 시", "faq.csv", 7), 0.914),)))
    assert markup.startswith('<p class="note">Retrieved from:</p>')
    assert "<td>0.91</td><td>faq.csv</td><td>7</td><td>언제 열어?</td><td>아홉 시</td>" in markup


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
