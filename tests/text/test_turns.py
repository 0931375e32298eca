import pytest

from keras_transformer import Tokenizer
from keras_transformer.text.turns import question_ids

START, END, SEP = 2, 3, 4


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(["안녕 나도 응", "abc"], kind="character", separator=True)


def spelled(tokenizer, *turns):
    """Token ids of turns, with separators between."""
    return [START, *[i for turn in turns for i in (SEP, *tokenizer.encode(turn))][1:], END]


def test_a_question_of_one_turn_is_the_question(tokenizer):
    assert question_ids(tokenizer, ["안녕", "a\nb"]) == [spelled(tokenizer, "안녕"), spelled(tokenizer, "a b")]


def test_turns_stand_between_separators(tokenizer):
    assert question_ids(tokenizer, ["안녕\n나도\n응"], turns=3) == [spelled(tokenizer, "안녕", "나도", "응")]


def test_of_more_turns_than_asked_for_the_last_are_read(tokenizer):
    assert question_ids(tokenizer, ["a\nb\nc", "a"], turns=2) == [spelled(tokenizer, "b", "c"), spelled(tokenizer, "a")]


def test_blank_turns_do_not_count(tokenizer):
    assert question_ids(tokenizer, ["a\n \n\nb\n", "\n"], turns=2) == [spelled(tokenizer, "a", "b"), [START, END]]


def test_the_earliest_turns_are_left_out_until_the_rest_fits(tokenizer):
    question = "abc\nab\na"  # 3 + 1 + 2 + 1 + 1 ids between start and end.
    assert question_ids(tokenizer, [question], 3, max_length=10) == [spelled(tokenizer, "abc", "ab", "a")]
    assert question_ids(tokenizer, [question], 3, max_length=9) == [spelled(tokenizer, "ab", "a")]
    assert question_ids(tokenizer, [question], 3, max_length=5) == [spelled(tokenizer, "a")]
    assert question_ids(tokenizer, ["a\nabc"], 3, max_length=4) == [spelled(tokenizer, "abc")]


def test_no_text_can_fake_a_separator(tokenizer):
    assert SEP not in tokenizer.encode("<sep>")
