import json

import pytest

from keras_transformer.printable import printable, printable_line

HOSTILE = "a\x1b[31mb\x9b2Jc\x07\b\r\x7f\u202ed\u2066\u2028\x85\ud83d"


def test_what_controls_a_terminal_is_escaped_as_in_json():
    escaped = r"a\u001b[31mb\u009b2Jc\u0007\u0008\u000d\u007f\u202ed\u2066\u2028\u0085\ud83d"
    assert printable(HOSTILE) == escaped == printable(escaped)
    assert escaped.isprintable()


@pytest.mark.parametrize("text", ["안녕 😀 👨‍👩‍👧 ‏שלום", "e\u0301\tx\ny", "zero\u200bwidth", r"\n \u001b"])
def test_other_texts_stay_as_they_are(text):
    assert printable(text) == text


def test_a_line_is_one_line():
    assert printable_line("a\nb\r\nc\td") == "a\\nb\\u000d\\nc\td"


def test_json_keeps_its_values():
    assert json.loads(printable(json.dumps([HOSTILE], ensure_ascii=False))) == [HOSTILE]
