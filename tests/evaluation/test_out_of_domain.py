"""Invented questions, and how well scores tell them apart."""

import itertools

import pytest

from keras_transformer import Confidence
from keras_transformer.evaluation.out_of_domain import auroc, make_out_of_domain, separation

QUESTIONS = ["오늘 뭐 먹지?", "how are you", "안녕", "ㅋㅋ"]


def test_what_is_invented_is_as_long_as_a_question_and_none():
    found = make_out_of_domain(QUESTIONS)
    assert list(found) == ["random Hangul", "random letters", "shuffled characters", "mixed words"]
    for kind in ("random Hangul", "random letters"):
        for question, text in zip(QUESTIONS, found[kind], strict=True):
            assert [letter.isspace() for letter in text] == [letter.isspace() for letter in question]
    assert all("가" <= letter <= "힣" for letter in "".join(found["random Hangul"]).replace(" ", ""))
    assert all("a" <= letter <= "z" for letter in "".join(found["random letters"]).replace(" ", ""))
    assert sorted(found["shuffled characters"][0]) == sorted(QUESTIONS[0])
    assert not {"ㅋㅋ"} & set(found["shuffled characters"])  # Which is itself, however it is shuffled.
    assert [len(text.split()) for text in found["mixed words"]] == [3, 3]
    assert set(" ".join(found["mixed words"]).split()) <= set(" ".join(QUESTIONS).split())
    assert not set(QUESTIONS) & set(itertools.chain(*found.values()))


def test_it_is_the_same_at_every_call_and_a_kind_that_is_empty_is_left_out():
    assert make_out_of_domain(QUESTIONS) == make_out_of_domain(QUESTIONS)
    assert list(make_out_of_domain(["아"])) == ["random Hangul", "random letters"]


@pytest.mark.parametrize(
    ("foreign", "expected"),
    [([0, 0.5], 1), ([4, 5], 0), ([1, 2, 3], 0.5), ([2.5], 1 / 3), ([2], 0.5), ([1, 9], 5 / 12)],
)
def test_auroc_is_the_chance_that_its_own_kind_is_above(foreign, expected):
    assert auroc((1, 2, 3), foreign) == pytest.approx(expected)


def test_separation_is_that_of_the_confidence():
    confidence = Confidence(((-3, 0.1), (-2, 0.2), (-1, 0.3)), {}, {}, "0")
    # Their smaller shares are 2/4, 3/4 and 2/4.
    assert separation(confidence, [(-9, 0.1), (0, 9)]) == 1
    assert separation(confidence, [(-3, 0.1)]) == pytest.approx(2 / 3)
