import unicodedata
import unittest.mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_transformer.text import normalize as normalize_module
from keras_transformer.text.normalize import compose, decompose, normalize


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


MARKS = ["\u0301", "\u0323", "\u0344", "\u0f73", "\u3099", "e", "한", "\u1112", "\u1161", "\u11ab", "\u212b", " "]


@given(st.text(st.sampled_from(MARKS)))
def test_marks_are_composed_as_python_does(text):
    with unittest.mock.patch.object(normalize_module, "LONG", 0):
        assert compose(text) == unicodedata.normalize("NFC", text)


def test_the_marks_of_a_long_text_are_in_order_before_python_moves_them_one_by_one():
    marks = "\u0301\u0323" * 1000
    assert decompose("e" + marks) == "e" + "\u0323" * 1000 + "\u0301" * 1000
    assert compose("e" + marks) == "ẹ" + "\u0323" * 999 + "\u0301" * 1000
