"""Which characters a corpus has."""

import pytest

from keras_transformer.data.quality import characters
from keras_transformer.data.quality.characters import CharacterCount, script


def count(*texts):
    counted = CharacterCount()
    for row, text in enumerate(texts, 1):
        counted.add(row, text)
    return counted.result()


def test_rare_characters_are_named_with_their_rows():
    found = count("가가가", "가나 a", "나다")
    assert (found.different, found.once, found.twice) == (4, 2, 1)
    assert found.rarest == {"a": 2, "다": 3, "나": 2}


def test_scripts_are_shares_of_all_characters_but_space():
    assert count("가나 ab", "漢!🙂 1").scripts == {"Hangul": 0.25, "Latin": 0.25, "Han": 0.125, "emoji": 0.125}


def test_batches_add_up(monkeypatch):
    whole = count(*"가나다", "가a")
    monkeypatch.setattr(characters, "BATCH", 2)
    assert count(*"가나다", "가a") == whole


def test_nothing_is_in_no_text():
    assert count().different == 0
    assert count().scripts == {}


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("가", "Hangul"), ("ㅋ", "Hangul"), ("é", "Latin"), ("Ａ", "Latin"), ("漢", "Han"), ("か", "Hiragana"),
        ("я", "Cyrillic"), ("🙂", "emoji"), ("☎", "emoji"), ("\ufffd", None), ("3", None), ("?", None), ("\x07", None),
    ],
)  # fmt: skip
def test_scripts(character, expected):
    assert script(character) == expected
