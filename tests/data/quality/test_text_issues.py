import unicodedata

import pytest

from keras_transformer.data.quality import text_issues
from keras_transformer.data.quality.text_issues import CharacterCount, script, text_faults


@pytest.mark.parametrize(
    "text",
    [
        "Hello, world!", "안녕하세요?", "안녕 👋🏽 가족 👨‍👩‍👧", "두 줄\n탭\t", "été, façade, naïve, “déjà vu”…",
        "Ça coûte 5 €", "le café…”", "ÀÉÎ", "ㅋㅋㅋ", "漢字かな", "می‌خواهم", "b.º 5 ± 2 ½ ×",
    ],
)  # fmt: skip
def test_sound_texts(text):
    assert text_faults(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (unicodedata.normalize("NFD", "안녕"), "letters in parts (NFD)"),
        ("cafe\u0301", "letters in parts (NFD)"),
        ("빨강 \x1b[31m", "control characters"),
        ("a\x00", "control characters"),
        ("안녕\u200b하세요", "invisible characters"),
        ("\ufeff안녕", "invisible characters"),
        ("빈칸\u3164", "invisible characters"),
        ("깨\ufffd짐", "replacement characters (U+FFFD)"),
        ("안녕하세요".encode().decode("latin-1"), "text read in a wrong encoding"),
        ("녕하".encode().decode("cp1252"), "text read in a wrong encoding"),
        ("café".encode().decode("cp1252"), "text read in a wrong encoding"),
        ("안녕하세요".encode("cp949").decode("latin-1"), "text read in a wrong encoding"),
    ],
)
def test_faults(text, fault):
    assert fault in text_faults(text)


def test_a_text_may_have_several():
    assert text_faults("\x07\u200b\ufffd") == [
        "control characters",
        "invisible characters",
        "replacement characters (U+FFFD)",
    ]


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
    monkeypatch.setattr(text_issues, "BATCH", 2)
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
