import unicodedata

import pytest

from keras_transformer.data.quality.near_duplicates import find_repeats, likeness_key
from keras_transformer.data.quality.scan import CorpusScan
from keras_transformer.data.quality.statistics import Counted, Rows


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Hello!", "hello"),
        ("ＨＥＬＬＯ ～", "hello"),
        ("잘 자~", "잘자"),
        (unicodedata.normalize("NFD", "잘 자"), "잘자"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("3박 4일", "3박4일"),
        ("हिन्दी", "हिन्दी"),
        ("?!… ~", ""),
        ("👋", ""),
    ],
)
def test_keys(text, key):
    assert likeness_key(text) == key


def repeats(*pairs):
    return find_repeats(CorpusScan([(row, *pair, None, pair[0]) for row, pair in enumerate(pairs, 2)]).pairs)


def test_nothing_is_repeated():
    found = repeats(("a", "1"), ("b", "2"))
    assert (found.questions, found.answers, found.duplicates, found.ambiguous) == (2, 2, Rows(), 0)
    assert found.most_answered == found.commonest == ()


def test_repeated_pairs_are_those_after_the_first():
    found = repeats(("a", "1"), ("b", "1"), ("a", "1"), ("a", "2"), ("a", "1"))
    assert found.duplicates == Rows(2, (4, 6))


def test_a_question_and_its_answer_exchanged_is_another_pair():
    assert repeats(("a", "b"), ("b", "a")).duplicates == Rows()


def test_questions_with_many_answers():
    found = repeats(("x", "0"), ("a", "1"), ("b", "1"), ("b", "2"), ("a", "2"), ("a", "3"), ("a", "1"))
    assert (found.questions, found.ambiguous) == (3, 2)
    assert found.most_answered == (Counted(3, 3), Counted(4, 2))


def test_answers_to_many_questions():
    found = repeats(("a", "0"), ("b", "1"), ("c", "1"), ("d", "2"), ("e", "2"), ("f", "2"))
    assert found.answers == 3
    assert found.commonest == (Counted(5, 3), Counted(3, 2))
