import itertools

import pytest

from keras_transformer.data.readers import (
    answered_turns,
    delimited_records,
    json_records,
    read_lines,
    read_rows,
    turns_of,
)


def endless(first, line, seen):
    """A first line, then one line for ever; `seen` grows with every line taken."""
    for text in itertools.chain([first], itertools.repeat(line)):
        seen.append(text)
        yield text


def test_a_record_is_read_when_it_is_asked_for():
    seen = []
    records = delimited_records(endless("Q,A\n", "안녕?,네\n", seen), ",")
    assert list(itertools.islice(records, 3)) == [
        (1, ["Q", "A"], None),
        (2, ["안녕?", "네"], None),
        (3, ["안녕?", "네"], None),
    ]
    assert len(seen) == 3


def test_a_line_of_json_is_read_when_it_is_asked_for():
    seen = []
    records = json_records(endless('{"Q": "안녕?"}\n', "3\n", seen))
    assert list(itertools.islice(records, 2)) == [(1, {"Q": "안녕?"}, None), (2, None, "not a JSON object")]
    assert len(seen) == 2


def test_lines_are_given_again_after_a_record_that_failed():
    lines = ['"a,b\n', "c,d\n", '"e\n', 'f",g\n', "h,i\n"]
    assert list(delimited_records(lines, ",")) == [
        (1, None, "broken quotes"),
        (2, ["c", "d"], None),
        (3, ["e\nf", "g"], None),
        (5, ["h", "i"], None),
    ]


def test_a_file_is_closed_where_reading_stops(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a\nb\n")
    lines = read_lines(path)
    assert next(lines) == "a\n"
    lines.close()
    path.unlink()  # Warnings are errors here: a file left open would be one.


def test_rows_are_pairs_or_say_why_not(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Q,A\n 안녕? , 네\n잘 지내?,\n", encoding="utf-8")
    assert list(read_rows(path)) == [(2, "안녕?", "네", None, "안녕?"), (3, "잘 지내?", "", "no answer", "잘 지내?")]


@pytest.mark.parametrize(
    "header",
    ["quesiton,anwser", "Question Text,Answer Text", "question:,answer:", "질문 내용,답변 내용", "replys,prompts"],
)
def test_a_header_of_unknown_names_is_not_read_as_a_pair(tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_text(f"\n{header}\n안녕?,네\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.csv: row 2 looks like a header .* with --question and --answer"):
        list(read_rows(path))
    names = header.split(",")
    assert [row[1] for row in read_rows(path, *names)] == ["안녕?"]


@pytest.mark.parametrize("pair", ["q1,a1", "en,ko", "Any questions?,No answer.", "질문 하나 해도 돼,대답해 줄게"])
def test_a_first_pair_is_not_taken_for_a_header(tmp_path, pair):
    path = tmp_path / "a.tsv"
    path.write_text(pair.replace(",", "\t") + "\n안녕?\t네\n", encoding="utf-8")
    assert len(list(read_rows(path))) == 2


@pytest.mark.parametrize(("lines", "counts"), [((3, 5), (3, 5)), ((5, 3), (5, 3)), ((0, 1), (0, 1))])
def test_parallel_files_are_counted_to_their_ends(tmp_path, lines, counts):
    paths = [tmp_path / "q.txt", tmp_path / "a.txt"]
    for path, count in zip(paths, lines):
        path.write_text("x\n" * count)
    with pytest.raises(ValueError, match=f"has {counts[0]} lines and .* has {counts[1]}: line i of the first"):
        list(read_rows(paths))


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
