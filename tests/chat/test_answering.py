import pytest

from keras_transformer.chat.answering import WAYS, Answer, Answering, checked_way
from keras_transformer.chat.datastore import Exchange, Match
from keras_transformer.cli.generation_options import source_lines
from keras_transformer.errors import InputError

NEAR = (
    Match(Exchange("배고파", "밥 먹어요.", "말뭉치.csv", 312), 0.871),
    Match(Exchange("배\n고파", "밥 먹어요.", None, 7), 0.5),
    Match(Exchange("졸려", "주무세요.", "corrections.jsonl", 1), 0.2),
)


def test_what_was_saved_is_loaded_and_without_a_file_a_run_generates(tmp_path):
    assert Answering.load(tmp_path) == Answering("generate")
    chosen = Answering("hybrid", 0.7, {"generate": 10.0, "retrieve": 20.0, "hybrid": 21.5}, 500)
    chosen.save(tmp_path)
    assert Answering.load(tmp_path) == chosen


@pytest.mark.parametrize("text", ["{", "[]", '{"way": "guess"}', '{"how": "generate"}', '{"similarity": "near"}'])
def test_a_damaged_file_is_named(tmp_path, text):
    (tmp_path / "answering.json").write_text(text)
    with pytest.raises(InputError, match=r"answering\.json: damaged: "):
        Answering.load(tmp_path)


def test_there_are_three_ways_and_no_others():
    assert WAYS == ("generate", "retrieve", "hybrid")
    with pytest.raises(InputError, match="unknown way of answering 'guess': choose one of generate, retrieve, hybrid"):
        checked_way("guess")


def test_an_answer_says_how_it_was_made():
    assert Answer("밥 먹어요.", None, NEAR[:1]).to_dict() == {
        "answer": "밥 먹어요.", "score": None, "answered_by": "retrieve", "unsure": False,
        "sources": [
            {"question": "배고파", "answer": "밥 먹어요.", "file": "말뭉치.csv", "row": 312, "similarity": 0.871}
        ],
    }  # fmt: skip
    assert Answer("a", -0.12345).to_dict() == {
        "answer": "a", "score": -0.1235, "answered_by": "generate", "unsure": False, "sources": [],
    }  # fmt: skip


def test_the_lines_below_an_answer_show_what_is_behind_it():
    assert source_lines(Answer("밥 먹어요.", None, NEAR), True) == [
        "  [0.87] 말뭉치.csv, row 312: 배고파",
        "  [0.50] pair 7: 배 / 고파",
    ]
    assert source_lines(Answer("자요.", -1.0, NEAR[2:]), True) == [
        "  generated; nearest:",
        "  [0.20] corrections.jsonl, row 1: 졸려",
    ]
    assert source_lines(Answer("", -1.0), True) == ["  generated; no similar question"]
    assert source_lines(Answer("", -1.0), False) == ["  generated; the run has no datastore"]
