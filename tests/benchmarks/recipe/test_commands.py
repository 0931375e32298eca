import statistics

import pytest

from benchmarks.recipe.commands import Clause, Group, Sentence, english_pairs, korean_pairs

WALK, JUMP = Group((Clause("walk", "left", times=2),)), Group((Clause("jump"),))
BOTH = Group((Clause("walk", "left"), Clause("jump", times=2)), times=3)
SQUARE = Group((Clause("look", "right", square=True),))


@pytest.mark.parametrize(
    ("sentence", "english", "korean", "actions"),
    [
        (Sentence(JUMP), "jump", "뛰어", "jump"),
        (Sentence(WALK), "walk left twice", "왼쪽으로 두 번 걸어", "left walk left walk"),
        (
            Sentence(WALK, JUMP),
            "walk left twice then jump", "왼쪽으로 두 번 걷고 나서 뛰어", "left walk left walk jump",
        ),
        (
            Sentence(WALK, JUMP, swapped=True),
            "jump after walk left twice", "뛰기 전에 왼쪽으로 두 번 걸어", "left walk left walk jump",
        ),
        (
            Sentence(BOTH),
            "three times over walk left and jump twice", "왼쪽으로 걷고 두 번 뛰기를 통째로 세 번 반복해",
            "left walk jump jump left walk jump jump left walk jump jump",
        ),
        (
            Sentence(SQUARE),
            "look right in a square", "네모를 그리며 오른쪽으로 살펴봐",
            "right look right look right look right look",
        ),
    ],
)  # fmt: skip
def test_a_tree_is_a_command_in_both_languages(sentence, english, korean, actions):
    assert sentence.english() == english
    assert sentence.korean() == korean
    assert " ".join(sentence.actions()) == actions


def test_both_corpora_have_the_same_commands():
    english, korean = english_pairs(), korean_pairs()
    assert len(english) == len(korean) == 16_000
    assert english[8] == ("jump right", "RIGHT JUMP")
    assert korean[8] == ("오른쪽으로 뛰어", "오른쪽 뛰기")
    lengths = [len(answer.split()) for _, answer in english]
    assert lengths == [len(answer.split()) for _, answer in korean]
    assert 13 < statistics.fmean(lengths) < 15
    assert max(lengths) == 32
