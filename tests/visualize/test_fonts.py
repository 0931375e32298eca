import matplotlib.font_manager
import pytest

from keras_transformer import InputError
from keras_transformer.visualize import fonts


def glyph(sign):
    """The number of the glyph by which a character is drawn, 0 for a box."""
    faces = (matplotlib.font_manager.get_font(fonts.font_file(family)) for family in fonts.fonts_for([sign]))
    return next(filter(None, (face.get_char_index(ord(sign)) for face in faces)), 0)


def test_latin_text_needs_no_other_font():
    assert fonts.fonts_for(["attention", "√d_k → ▁"]) == ["DejaVu Sans"]


def test_every_korean_character_has_a_glyph():
    text = "질문에답하는트랜스포머뷁ㅋㅋㅎ"
    glyphs = set(map(glyph, text))
    assert 0 not in glyphs
    assert len(glyphs) == len(set(text))  # No glyph that stands for what is missing.


def test_what_no_font_can_draw_is_named(monkeypatch):
    monkeypatch.setattr(fonts, "candidates", list)
    with pytest.raises(
        InputError, match=r"no installed font has the characters 한 \(U\+D55C\): install one, .*koreanize-matplotlib"
    ):
        fonts.fonts_for(["한 a"])


def test_spaces_and_joiners_need_no_glyph():
    assert fonts.fonts_for(["a b\n\u200b"]) == ["DejaVu Sans"]


def test_korean_fonts_that_read_well_come_first():
    names = fonts.candidates()
    korean = [name for name in names if name in fonts.KOREAN]
    assert korean and names[: len(korean)] == korean
