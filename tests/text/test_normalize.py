import unicodedata

import pytest

from keras_transformer.text.normalize import normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a  b ", "a b"),
        ("한\t글\r\n도", "한 글 도"),
        ("전각　공백", "전각 공백"),
        ("no\xa0break", "no break"),
        (" \n ", ""),
        ("zero\u200bwidth", "zero\u200bwidth"),
        ("👍🏽", "👍🏽"),
    ],
)
def test_white_space_becomes_single_spaces_and_nothing_else_changes(text, expected):
    assert normalize(text) == expected


def test_jamo_are_composed_into_syllables():
    decomposed = unicodedata.normalize("NFD", "안녕")
    assert len(decomposed) == 6
    assert normalize(decomposed) == "안녕"
