"""The tutorials' own preprocessing, on literals worked out by hand from their code."""

import pytest

from keras_transformer.text.preprocessing import PREPROCESSINGS


@pytest.mark.parametrize(
    "text, expected",
    [
        ("12시 땡!", "12시 땡 !"),
        ("응, 그래.", "응 ,  그래 ."),  # As published: the space that was there stays.
        ("  Don't  stop ", "Don't  stop"),
        ("", ""),
        ("?!", "?  !"),
    ],
)
def test_punctuation(text, expected):
    assert PREPROCESSINGS["punctuation"](text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Where have you been?", "where have you been ?"),
        ("It's a trap!", "it s a trap !"),
        ('He said: "No."', "he said no ."),
        ("  3 cats,2 dogs\n", "cats , dogs"),
        ("안녕", ""),
    ],
)
def test_english(text, expected):
    assert PREPROCESSINGS["english"](text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("It's a trap!", "it is a trap !"),
        ("She's here", "she is here"),  # By way of "he's".
        ("What's that? I won't, I can't", "that is that ? i will not , i cannot"),  # As published: what's → that is.
        ("They'd've gone nothin' 'bout", "they would have gone nothing about"),
        ("I don't know, we'll see; you're", "i do not know , we will see you are"),
    ],
)
def test_contractions(text, expected):
    assert PREPROCESSINGS["contractions"](text) == expected
