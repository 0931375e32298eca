import collections
import pathlib
import unicodedata

import pandas as pd
import pytest

from keras_transformer.data.corpus import load_pairs
from keras_transformer.data.split import split_name, split_pairs

KOREAN = pathlib.Path(__file__).parents[3] / "shared/corpora/chatbot_ko/ChatbotData.csv"


@pytest.mark.parametrize(
    ("question", "expected"),
    # printf 안녕 | sha256sum | cut -c1-8, read as a hexadecimal number, modulo 100: 71, 14, 5, 3.
    [("안녕", "train"), ("hello", "train"), ("q11", "validation"), ("질문 53", "test")],
)
def test_known_questions_stay_where_they_are(question, expected):
    assert split_name(question) == expected


def test_white_space_around_and_composition_do_not_matter():
    for number in range(50):
        question = f"질문 {number}"
        assert split_name(f"  {question}\n") == split_name(question)
        assert split_name(unicodedata.normalize("NFD", question)) == split_name(question)


def test_five_of_a_hundred_are_test_and_as_many_validation():
    counts = collections.Counter(split_name(f"question {number}") for number in range(20_000))
    assert 0.045 < counts["test"] / 20_000 < 0.055
    assert 0.045 < counts["validation"] / 20_000 < 0.055


def test_a_question_stands_in_one_part_and_no_pair_is_lost():
    pairs = pd.DataFrame({"question": [f"q{i % 300}" for i in range(900)], "answer": [f"a{i}" for i in range(900)]})
    splits = split_pairs(pairs)
    assert sorted(pd.concat(splits.values())["answer"]) == sorted(pairs["answer"])
    questions = [set(frame["question"]) for frame in splits.values()]
    assert not (questions[0] & questions[1] or questions[0] & questions[2] or questions[1] & questions[2])


@pytest.mark.skipif(not KOREAN.exists(), reason="the Korean chatbot corpus is not beside the repository")
def test_the_split_of_the_korean_corpus():
    splits = split_pairs(load_pairs(KOREAN))
    assert {name: len(frame) for name, frame in splits.items()} == {"train": 10646, "validation": 579, "test": 598}


def test_the_pairs_of_a_conversation_stay_together():
    pairs = pd.DataFrame({"question": ["a", "b", "c"], "answer": ["b", "c", "d"], "opening": ["안녕"] * 3})
    assert sorted(map(len, split_pairs(pairs).values())) == [0, 0, 3]
    assert len(split_pairs(pairs)[split_name("안녕")]) == 3
