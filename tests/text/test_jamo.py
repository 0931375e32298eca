import pathlib
import unicodedata

import pytest

from keras_transformer.text.jamo import may_grow, rules, split


def test_hangul_becomes_letters_and_nothing_else_changes():
    assert split("한é가 abc ㅋ") == "\u1112\u1161\u11abé\u1100\u1161 abc ㅋ"


def test_every_syllable_has_a_rule_each_way():
    with rules() as files:
        splitting, composing = (
            [line.split("\t") for line in pathlib.Path(path).read_text().splitlines()] for path in files.values()
        )
    assert len(splitting) == len(composing) == 11_172
    assert ["D55C", "1112 1161 11AB"] in splitting and ["1112 1161 11AB", "D55C"] in composing
    assert [[letters, syllable] for syllable, letters in splitting] == composing


@pytest.mark.parametrize(
    ("text", "grows"), [("하", True), ("한", False), ("\u1112", True), ("\u11ab", False), ("a", False), ("", False)]
)
def test_a_syllable_without_a_final_may_grow(text, grows):
    assert may_grow(text) == grows
    if grows and text != "\u1112":
        assert len(unicodedata.normalize("NFC", text + "\u11ab")) == 1
