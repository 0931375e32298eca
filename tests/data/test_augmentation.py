import numpy as np
import pandas as pd
import pytest

from keras_transformer.data.augmentation import (
    augment,
    change_ending,
    change_marks,
    drop_spaces,
    drop_word,
    misspell,
    noisy,
    replace_letter,
)


class Scripted:
    """A random generator that draws what it is told."""

    def __init__(self, *drawn):
        self.drawn = list(drawn)

    def integers(self, *limits):
        return self.drawn.pop(0)

    random = choice = integers


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("배고파요?", "배고파요?"),
        ("밥 먹었어요?!", "밥 먹었어?!"),
        ("밥 먹었어", "밥 먹었어요"),
        ("반갑습니다.", "반갑어요."),
        ("hello", "hello"),
        ("?", "?"),
        ("", ""),
    ],
)
def test_polite_and_plain_endings(text, changed):
    assert change_ending(text, None) == changed


def test_marks_at_the_end():
    assert change_marks("배고파ㅠㅠ!!", Scripted(2)) == "배고파?"
    assert change_marks("배고파?", Scripted(0)) == "배고파"
    assert change_marks("ㅋㅋ", Scripted(3)) == "ㅋㅋ!"


def test_spaces_are_left_out():
    assert drop_spaces("나 너 우리", Scripted(0.4)) == "나너우리"
    assert drop_spaces("나 너 우리", Scripted(0.6, 0.4, 0.6)) == "나 너우리"
    assert drop_spaces("나", Scripted(0.6)) == "나"


def test_a_word_is_left_out_of_three():
    assert drop_word("나 너 우리", Scripted(1)) == "나 우리"
    assert drop_word("나 너", Scripted()) == "나 너"


@pytest.mark.parametrize(
    ("drawn", "text"),
    [((1, 0), "ac"), ((1, 1), "abbc"), ((1, 2), "acb"), ((2, 2, ord("x")), "abx"), ((0, 5, ord("x")), "xbc")],
)
def test_a_character_is_mistyped(drawn, text):
    assert misspell("abc", Scripted(*drawn)) == text


def test_one_character_alone_stays():
    assert misspell("a", Scripted()) == "a"


def test_a_letter_of_a_syllable_is_exchanged():
    assert replace_letter("한", Scripted(0, ord("\u1100"))) == "간"  # ᄀ
    assert replace_letter("한", Scripted(1, ord("\u1165"))) == "헌"  # ᅥ
    assert replace_letter("한", Scripted(2, ord("\u11bc"))) == "항"  # ᆼ
    assert replace_letter("?", Scripted()) == "?"


def test_only_the_last_turn_is_noisy():
    random = np.random.default_rng(0)
    copies = [noisy("어디 가?\n집에 가요. 왜요?", random) for _ in range(50)]
    assert all(copy.startswith("어디 가?\n") for copy in copies)
    assert len(set(copies)) > 10


def test_the_same_seed_makes_the_same_copies_and_none_asks_what_another_pair_asks():
    pairs = pd.DataFrame({"question": ["밥 먹었어요", "밥 먹었어", "잘 자요 내 친구"], "answer": ["a", "b", "c"]})
    copies = augment(pairs, 40, (7, 0))
    assert copies.equals(augment(pairs, 40, (7, 0)))
    assert not copies.equals(augment(pairs, 40, (7, 1)))
    assert list(copies.columns) == ["question", "answer"]
    assert not set(copies["question"]) & set(pairs["question"])
    assert set(copies["answer"]) == {"a", "b", "c"}
    assert len(augment(pairs, 0, 7)) == 0


def test_rows_of_several_chunks_are_copied_as_often_as_those_of_one():
    chunk = pd.DataFrame({"question": ["영업 시간이 어떻게 되나요", "주차할 수 있나요"], "answer": ["아홉 시요", "네"]})
    copies = augment(pd.concat([chunk, chunk.assign(answer="?")]), 3, 0)
    assert copies["answer"].value_counts().max() <= 6
    assert len(copies) <= 12
