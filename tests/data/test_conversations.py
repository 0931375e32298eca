import pytest

from keras_transformer.data.conversations import answered_turns, turns_of


@pytest.mark.parametrize(
    ("record", "turns"),
    [
        ({"turns": ["안녕", "네"]}, ["안녕", "네"]),
        ({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}, ["hi", "hello"]),
        ({"대화": [{"발화": "안녕"}, {"화자": "나"}]}, ["안녕", None]),
        ({"conversations": [{"from": "system", "value": "Be kind."}, {"from": "human", "value": "hi"}]}, ["hi"]),
        ({"question": "a", "answer": "b"}, None),
        ({"turns": "a"}, None),
    ],
)
def test_turns(record, turns):
    assert turns_of(record) == turns


@pytest.mark.parametrize(
    ("limit", "pairs"),
    [
        (1, [("a", "b"), ("b", "c d"), ("c d", "e")]),
        (2, [("a", "b"), ("a\nb", "c d"), ("b\nc d", "e")]),
        (9, [("a", "b"), ("a\nb", "c d"), ("a\nb\nc d", "e")]),
    ],
)
def test_every_turn_but_the_first_answers_those_before_it(limit, pairs):
    assert list(answered_turns(["a", "b", "c\nd", "e"], limit)) == pairs


def test_one_turn_answers_nothing():
    assert list(answered_turns(["a"], 3)) == []
