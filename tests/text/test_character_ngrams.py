from keras_transformer.text.character_ngrams import character_ngrams


def test_letters_are_taken_by_two_to_four_and_syllables_alone_or_by_two():
    assert character_ngrams("To 집에") == [
        *(" t", "to", "o ", " to", "to ", " to "),
        *("집", "에", " 집", "집에", "에 "),
    ]  # fmt: skip


def test_letters_beside_a_syllable_count_as_it_does():
    assert character_ngrams("a漢") == ["漢", " a", "a漢", "漢 "]


def test_a_blank_text_has_none():
    assert character_ngrams("") == []


def test_what_expresses_a_mood_only_is_ignored():
    assert (
        character_ngrams("배고파ㅠㅠ")
        == character_ngrams("배고파 ㅋㅋ")
        == character_ngrams("배고파!!~")
        == character_ngrams("배고파")
    )
    assert character_ngrams("hello^^") == character_ngrams("hello")
    assert character_ngrams("배고파?") != character_ngrams("배고파")


def test_a_text_of_nothing_else_keeps_it():
    assert character_ngrams("ㅋㅋ") == ["ㅋ", "ㅋ", " ㅋ", "ㅋㅋ", "ㅋ "]
    assert character_ngrams("! ~") == [" !", "! ", " ! ", " ~", "~ ", " ~ "]
