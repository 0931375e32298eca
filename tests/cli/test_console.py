from keras_transformer.cli.console import table, wrap


def test_hangul_is_twice_as_wide_in_columns_left_and_right():
    assert table([("가나", "a"), ("abcde", "b")]) == "가나   a\nabcde  b"
    assert table([("a", "가나"), ("b", "abcde")], right=[1]) == "a   가나\nb  abcde"


def test_lines_break_between_words():
    assert list(wrap("하나 둘 셋 넷", 7)) == ["하나 둘", "셋 넷"]
    assert list(wrap("하나 둘 셋 넷", 6)) == ["하나", "둘 셋", "넷"]
    assert list(wrap("one  two\nthree", 8)) == ["one  two", "three"]


def test_what_is_longer_than_a_line_breaks_within():
    assert list(wrap("ab 가나다라마", 6)) == ["ab 가", "나다라", "마"]
    assert list(wrap("", 6)) == [""]
