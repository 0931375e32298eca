import itertools

import pytest

from keras_transformer.data.tables import delimited_records, delimiter_of


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


def test_lines_are_given_again_after_a_record_that_failed():
    lines = ['"a,b\n', "c,d\n", '"e\n', 'f",g\n', "h,i\n"]
    assert list(delimited_records(lines, ",")) == [
        (1, None, "broken quotes"),
        (2, ["c", "d"], None),
        (3, ["e\nf", "g"], None),
        (5, ["h", "i"], None),
    ]


@pytest.mark.parametrize(
    ("first", "usual", "delimiter"),
    [
        ("질문,답변\n", ",", ","),
        ("질문;답변\n", ",", ";"),
        ("질문\t답변\n", ",", "\t"),
        ("질문,답변\n", "\t", ","),
        ("질문;참고,답변\n", ",", ","),
        ('"질문;답변"\n', ",", ","),
        ('"질문;\n', ",", ","),
        ("질문\n", ",", ","),
        ("\n", ",", ","),
    ],
)
def test_a_table_may_have_another_delimiter_than_its_name_says(first, usual, delimiter):
    assert delimiter_of([first], usual) == delimiter


def test_an_empty_table_has_the_usual_delimiter():
    assert delimiter_of([], "\t") == "\t"
