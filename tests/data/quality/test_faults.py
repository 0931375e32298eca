"""What may be wrong with the characters of a text."""

import unicodedata

import pytest

from keras_transformer.data.quality.faults import text_faults


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
