"""What one reading keeps of a corpus."""

import unicodedata

from keras_transformer.data.quality import scan as module
from keras_transformer.data.quality.rows import Rows
from keras_transformer.data.quality.scan import Survey
from keras_transformer.data.split import PARTS, part


def test_numbers_of_pairs():
    survey = Survey([(2, "안녕", "네네", None, "안녕"), (4, unicodedata.normalize("NFD", "안녕"), "네", None, "안녕")])
    pairs = survey.pairs
    assert len(survey) == 2
    assert list(pairs["row"]) == [2, 4]
    assert list(pairs["question_length"]) == [2, 2]
    assert list(pairs["answer_length"]) == [2, 1]
    assert pairs["question"][0] == pairs["question"][1]
    assert pairs["answer"][0] != pairs["answer"][1]


def test_parts_are_those_of_the_split():
    questions = ["안녕", "q11", "질문 53", "  q 11"]
    survey = Survey([(row, question, "네", None, question) for row, question in enumerate(questions, 1)])
    assert [PARTS[number] for number in survey.pairs["part"]] == [part(question) for question in questions]


def test_a_conversation_has_the_part_of_its_opening():
    survey = Survey([(1, question, "네", None, "q11") for question in ("q11", "안녕", "질문 53")])
    assert [PARTS[number] for number in survey.pairs["part"]] == [part("q11")] * 3


def test_what_is_wrong_is_named_by_row():
    rows = [(row, None, None, "broken quotes", None) for row in range(1, 8)]
    rows += [(8, "a\u200b", "b\u200b", None, "a\u200b"), (9, "", "b", "no question", "")]
    survey = Survey(rows)
    assert survey.left_out == {"broken quotes": Rows(7, (1, 2, 3, 4, 5)), "no question": Rows(1, (9,))}
    assert survey.faults == {"invisible characters": Rows(1, (8,))}
    assert str(survey.left_out["broken quotes"]) == "7 rows (1, 2, 3, 4, 5, …)"
    assert str(survey.left_out["no question"]) == "1 row (9)"


def test_the_sample_is_bounded_and_the_same_each_time(monkeypatch):
    rows = [(row, f"q{row}", "a", None, f"q{row}") for row in range(1, 1001)]
    assert [row for row, *_ in Survey(rows).sample] == list(range(1, 1001))
    monkeypatch.setattr(module, "SAMPLE", 100)
    drawn = [row for row, *_ in Survey(rows).sample]
    assert len(set(drawn)) == 100
    assert 350 < sum(drawn) / 100 < 650
    assert drawn == [row for row, *_ in Survey(rows).sample]
