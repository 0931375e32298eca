import gzip
import unicodedata

import pytest

from keras_transformer.data.quality import scan as module
from keras_transformer.data.quality.scan import CorpusScan, examine_file, stray_lines
from keras_transformer.data.quality.statistics import Rows
from keras_transformer.data.split import SPLITS, split_name
from keras_transformer.errors import InputError


def write(folder, data):
    path = folder / "자료.csv"
    path.write_bytes(data)
    return path


def test_line_ends_are_counted(tmp_path):
    path = write(tmp_path, "Q,A\r\n안녕,네\r\nhi,hello\nbye,see\ryou,too".encode())
    file = examine_file(path, "utf-8")
    assert file.line_ends == {"LF": 1, "CRLF": 2, "CR": 1}
    assert (file.path, file.size, file.mark) == (str(path), 41, False)


@pytest.mark.parametrize(("data", "mark"), [(b"\xef\xbb\xbfQ,A\n", True), (b"Q,A\n", False), (b"", False)])
def test_mark(tmp_path, data, mark):
    assert examine_file(write(tmp_path, data), "utf-8").mark is mark


def test_line_ends_of_utf16_are_no_bytes(tmp_path):
    path = write(tmp_path, "Q,A\r\n안녕,네\r\n".encode("utf-16"))
    assert examine_file(path, "utf-16").line_ends == {"CRLF": 2}


def test_wrong_encoding(tmp_path):
    with pytest.raises(InputError, match="line 1 is not UTF-8"):
        examine_file(write(tmp_path, b"\xff\xff\n"), "utf-8")


def test_stray_lines_are_named(tmp_path):
    lines = ["안녕,네".encode()] * 6
    lines[1] = lines[4] = "안녕,네".encode("cp949")
    assert stray_lines(write(tmp_path, b"\n".join(lines))) == Rows(2, (2, 5))


def test_a_file_in_another_encoding_has_no_stray_lines(tmp_path):
    assert stray_lines(write(tmp_path, "hi,hello\n안녕,네\n잘 자,너도\n".encode("cp949"))) == Rows()


def test_a_damaged_compressed_file_has_no_stray_lines(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress("Q,A\n안녕,네\n".encode())[:-9])
    assert stray_lines(path) == Rows()


def test_numbers_of_pairs():
    survey = CorpusScan(
        [(2, "안녕", "네네", None, "안녕"), (4, unicodedata.normalize("NFD", "안녕"), "네", None, "안녕")]
    )
    pairs = survey.pairs
    assert len(survey) == 2
    assert list(pairs["row"]) == [2, 4]
    assert list(pairs["question_length"]) == [2, 2]
    assert list(pairs["answer_length"]) == [2, 1]
    assert pairs["question"][0] == pairs["question"][1]
    assert pairs["answer"][0] != pairs["answer"][1]


def test_parts_are_those_of_the_split():
    questions = ["안녕", "q11", "질문 53", "  q 11"]
    survey = CorpusScan([(row, question, "네", None, question) for row, question in enumerate(questions, 1)])
    assert [SPLITS[number] for number in survey.pairs["split"]] == [split_name(question) for question in questions]


def test_a_conversation_has_the_part_of_its_opening():
    survey = CorpusScan([(1, question, "네", None, "q11") for question in ("q11", "안녕", "질문 53")])
    assert [SPLITS[number] for number in survey.pairs["split"]] == [split_name("q11")] * 3


def test_what_is_wrong_is_named_by_row():
    rows = [(row, None, None, "broken quotes", None) for row in range(1, 8)]
    rows += [(8, "a\u200b", "b\u200b", None, "a\u200b"), (9, "", "b", "no question", "")]
    survey = CorpusScan(rows)
    assert survey.left_out == {"broken quotes": Rows(7, (1, 2, 3, 4, 5)), "no question": Rows(1, (9,))}
    assert survey.faults == {"invisible characters": Rows(1, (8,))}
    assert str(survey.left_out["broken quotes"]) == "7 rows (1, 2, 3, 4, 5, …)"
    assert str(survey.left_out["no question"]) == "1 row (9)"


def test_the_sample_is_bounded_and_the_same_each_time(monkeypatch):
    rows = [(row, f"q{row}", "a", None, f"q{row}") for row in range(1, 1001)]
    assert [row for row, *_ in CorpusScan(rows).sample] == list(range(1, 1001))
    monkeypatch.setattr(module, "SAMPLE", 100)
    drawn = [row for row, *_ in CorpusScan(rows).sample]
    assert len(set(drawn)) == 100
    assert 350 < sum(drawn) / 100 < 650
    assert drawn == [row for row, *_ in CorpusScan(rows).sample]


def test_a_text_of_nothing_but_marks_takes_no_minutes():
    marks = "a" + "\u0301\u0327" * 100_000
    in_order = "a" + "\u0327" * 100_000 + "\u0301" * 100_000
    pairs = CorpusScan([(1, marks, "b", None, marks), (2, in_order, "b", None, "a")]).pairs
    assert pairs["question"][0] == pairs["question"][1]
    assert pairs["key"][0] == pairs["key"][1]
