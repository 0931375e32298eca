"""Phrases in a text, with literals that a reader can check by eye."""

import pytest

from keras_transformer import InputError
from keras_transformer.decoding.phrases import ANY, FOUND, Phrases, checked_phrases


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("고양이", "고양이는 귀여워요"),  # Korean particles attach to words.
        ("고양이", "들고양이"),
        ("cat", "the Cat."),
        ("CAT", "cat"),
        ("PDF", "PDF를 여세요"),
        ("3", "3개"),
        ("élan", "ÉLAN"),
        ("ice cream", "ice \n cream"),
        ("c++", "c++11"),  # It ends with neither a letter nor a digit.
        ("어요.", "좋아요. 있어요."),
        ("가가나", "가가가나"),  # The automaton does not lose what has begun meanwhile.
    ],
)
def test_what_contains_a_phrase(phrase, text):
    assert Phrases([phrase]).occur_in(text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("고양이", "고양 이"),
        ("cat", "cats"),
        ("ass", "class"),
        ("3", "13개"),
        ("élan", "elan"),
        ("ice cream", "icecream"),
        ("cat", ""),
    ],
)
def test_what_does_not(phrase, text):
    assert not Phrases([phrase]).occur_in(text)


def test_split_syllables_are_found_whole():
    letters = Phrases(["\u1100\u1161"])  # 가
    assert letters.read(letters.start, "\u1100\u1161\u1102") == FOUND  # 가 and the start of another syllable.
    assert letters.read(letters.start, "\u1100\u1161\u11a8") != FOUND  # 각


def test_a_word_is_pending_until_it_ends():
    phrases = Phrases(["cat"])
    read = phrases.read(phrases.start, "a cat")
    assert phrases.is_pending(read)
    assert phrases.read(read, " ") == FOUND
    assert not phrases.is_pending(phrases.read(read, "s"))


@pytest.mark.parametrize(
    ("phrases", "message"),
    [
        ("cat", r"forbidden must be a list of words, such as \('word',\), not 'cat'"),
        ((5,), "forbidden must be a list of words"),
        ((" \n",), "a forbidden word is blank: write the word, or leave it out"),
        (("\ud800",), "is not UTF-8"),
        (["word"] * 201, "too many forbidden words: at most 200 of 1000 characters together"),
        (["a" * 1001], "too many forbidden words"),
    ],
)
def test_what_is_no_list_of_words_is_refused(phrases, message):
    with pytest.raises(InputError, match=message):
        checked_phrases(phrases, "forbidden")


def test_the_same_word_counts_once():
    assert checked_phrases(["b", "a", "b"], "forbidden") == ("b", "a")


def test_fewer_words_may_be_required_than_forbidden():
    with pytest.raises(InputError, match="too many required words: at most 20 of 1000 characters together"):
        checked_phrases(["word"] * 21, "required")
    with pytest.raises(InputError, match="a required word is blank"):
        checked_phrases([""], "required")


def test_beside_a_character_that_may_be_any_no_word_is_found():
    assert Phrases(["cat"]).read(Phrases.start, f"cat{ANY}") != FOUND
    letters = Phrases(["\u1100\u1161"])  # 가, of split syllables.
    assert letters.read(letters.start, f"\u1100\u1161{ANY}") != FOUND
