"""Golden files: what is read, what passes, what is written, and what is refused."""

import json
import unicodedata

import pytest

from keras_transformer import InputError
from keras_transformer.evaluation.golden import (
    GoldenQuestion,
    GoldenResult,
    add_to_golden,
    check_golden,
    read_golden,
    write_golden,
)

GOOD = '{"question": "안녕", "answers": ["반가워요!"]}'


@pytest.fixture
def golden_file(tmp_path):
    """A function that writes a golden file of those lines, or bytes."""

    def make(*lines):
        path = tmp_path / "정답.jsonl"
        path.write_bytes(lines[0] if isinstance(lines[0], bytes) else "".join(f"{line}\n" for line in lines).encode())
        return path

    return make


def lines_of(path):
    return path.read_bytes().decode().split("\n")


def test_blank_lines_are_skipped_and_last_is_optional(golden_file):
    path = golden_file(
        '{"question": "안녕", "answers": ["반가워요!", "안녕하세요."], "last": "반가워요!"}',
        "",
        "  ",
        '{"question": "hello", "answers": ["Hi there!"], "note": "by hand"}',
    )
    assert read_golden(path) == [
        GoldenQuestion("안녕", ("반가워요!", "안녕하세요."), "반가워요!"),
        GoldenQuestion("hello", ("Hi there!",)),
    ]


def test_a_mark_at_the_start_crlf_and_line_separators_within_texts_are_no_fault(golden_file):
    path = golden_file(
        '\ufeff{"question": "a\u2028b", "answers": ["c"]}\r\n{"question": "d", "answers": ["e"]}'.encode()
    )
    assert read_golden(path) == [GoldenQuestion("a\u2028b", ("c",)), GoldenQuestion("d", ("e",))]


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("좋은 꿈 꾸세요.", True),
        ("  좋은 \t 꿈\n꾸세요. ", True),
        (unicodedata.normalize("NFD", "좋은 꿈 꾸세요."), True),
        ("Sleep well.", True),
        ("sleep well.", False),
        ("좋은꿈 꾸세요.", False),
        ("", False),
    ],
)
def test_white_space_and_the_form_of_unicode_make_no_difference(answer, passed):
    golden = GoldenQuestion("잘 자", ("좋은 꿈 꾸세요.", "Sleep  well. "))
    assert GoldenResult(golden, answer).passed == passed


@pytest.mark.parametrize(
    ("last", "answer", "change"),
    [
        (None, "b", None),
        ("a", " a", None),
        ("b", "b", None),
        ("a", "b", "now fails"),
        ("b", "a", "now passes"),
        ("b", "c", "still fails"),
        ("a", "A", "still passes"),
        ("a", "", "now fails"),
        ("", "a", "now passes"),
    ],
)
def test_a_change_is_one_of_the_answer(last, answer, change):
    assert GoldenResult(GoldenQuestion("?", ("a", "A"), last), answer).change == change


def test_questions_are_asked_in_batches_and_answered_in_order():
    sizes = []

    def shout(questions):
        sizes.append(len(questions))
        return [question.upper() for question in questions]

    golden = [GoldenQuestion(f"q{i}", (f"Q{i}",)) for i in range(130)]
    results = check_golden(shout, golden)
    assert [result.golden for result in results] == golden
    assert all(result.passed for result in results)
    assert sizes == [64, 64, 2]


def test_a_function_that_leaves_an_answer_out_is_an_error():
    with pytest.raises(ValueError, match="zip"):
        check_golden(lambda questions: questions[1:], [GoldenQuestion("a", ("b",)), GoldenQuestion("c", ("d",))])


def test_an_update_writes_last_and_nothing_else(golden_file):
    """Rows whose last answer is the same keep every byte."""
    same = '{"answers":["Hi there!"],  "question":"hello", "last": "\\u0048i"}'
    path = golden_file(GOOD, "", same, '{"question": "bye", "answers": ["See you!"], "last": "Bye", "note": [1]}')
    golden = read_golden(path)
    write_golden(path, [GoldenResult(one, answer) for one, answer in zip(golden, ("네?", "Hi", "See you!"))])
    assert lines_of(path) == [
        '{"question": "안녕", "answers": ["반가워요!"], "last": "네?"}',
        "",
        same,
        '{"question": "bye", "answers": ["See you!"], "last": "See you!", "note": [1]}',
        "",
    ]
    assert [one.last for one in read_golden(path)] == ["네?", "Hi", "See you!"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_update_keeps_crlf(golden_file):
    path = golden_file(f'{GOOD}\r\n\r\n{{"question": "hello", "answers": ["Hi!"]}}'.encode())
    write_golden(path, check_golden(lambda questions: ["?"] * len(questions), read_golden(path)))
    assert path.read_bytes().decode() == (
        '{"question": "안녕", "answers": ["반가워요!"], "last": "?"}\r\n\r\n'
        '{"question": "hello", "answers": ["Hi!"], "last": "?"}'
    )


def test_what_is_edited_during_a_check_stays(golden_file):
    path = golden_file(GOOD, '{"question": "hello", "answers": ["Hi!"]}')
    results = check_golden(lambda questions: ["?"] * len(questions), read_golden(path))
    golden_file('{"question": "bye", "answers": ["See you!"]}', '{"question": "안녕", "answers": ["반가워요!", "네!"]}')
    write_golden(path, results)
    assert read_golden(path) == [
        GoldenQuestion("bye", ("See you!",)),
        GoldenQuestion("안녕", ("반가워요!", "네!"), "?"),
    ]


def test_an_answer_is_added_to_its_question(golden_file):
    path = golden_file('{"question": "안녕", "answers": ["반가워요!"], "last": "네?"}', GOOD.replace("안녕", "야"))
    assert add_to_golden(path, unicodedata.normalize("NFD", " 안녕 "), " 안녕하세요. ") is True
    assert lines_of(path) == [
        '{"question": "안녕", "answers": ["반가워요!", "안녕하세요."], "last": "네?"}',
        GOOD.replace("안녕", "야"),
        "",
    ]
    before = path.stat()
    assert add_to_golden(path, "안녕", "안녕하세요.  ") is False
    assert path.stat() == before


@pytest.mark.parametrize("text", [GOOD, f"{GOOD}\n", f"{GOOD}\r\n", f"{GOOD}\n\n", f"\n{GOOD}\n", "", "\n"])
def test_a_new_question_is_a_new_line_at_the_end(golden_file, text):
    path = golden_file(text.encode())
    before = read_golden(path) if text.strip() else []
    assert add_to_golden(path, "잘 자", "좋은 꿈 꾸세요.") is True
    assert read_golden(path) == [*before, GoldenQuestion("잘 자", ("좋은 꿈 꾸세요.",))]
    assert path.read_bytes().startswith(text.encode())
    assert path.read_bytes().endswith(b"\n")


def test_a_new_file_is_made_and_a_link_stays_one(tmp_path):
    path = tmp_path / "new.jsonl"
    add_to_golden(path, "hello", "Hi there!")
    assert path.read_text("utf-8") == '{"question": "hello", "answers": ["Hi there!"]}\n'
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    add_to_golden(link, "hello", "Hello!")
    assert link.is_symlink()
    assert read_golden(path) == [GoldenQuestion("hello", ("Hi there!", "Hello!"))]
    with pytest.raises(InputError, match=r"nowhere/new\.jsonl: cannot be written: No such file or directory"):
        add_to_golden(tmp_path / "nowhere" / "new.jsonl", "hello", "Hi there!")


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [(" ", "a", "the question is empty. Write one."), ("q", "\n", "the answer is empty. Write one.")],
)
def test_nothing_empty_is_added(golden_file, question, answer, message):
    path = golden_file(GOOD)
    with pytest.raises(InputError) as error:
        add_to_golden(path, question, answer)
    assert (str(error.value), lines_of(path)) == (message, [GOOD, ""])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"question": "a", ', 'not JSON. Write {"question": "…", "answers": ["…"]} in one line.'),
        ("[" * 100_000, 'not JSON. Write {"question": "…", "answers": ["…"]} in one line.'),
        ('["a", "b"]', 'not a JSON object. Write {"question": "…", "answers": ["…"]}.'),
        ('{"answers": ["b"]}', '"question" is missing. Write a text.'),
        ('{"question": " ", "answers": ["b"]}', '"question" is empty. Write a text.'),
        ('{"question": 1, "answers": ["b"]}', '"question" is not a text. Write a text.'),
        ('{"question": "a"}', '"answers" is missing. Write a list of texts.'),
        ('{"question": "a", "answers": []}', '"answers" is empty. Write a list of texts.'),
        ('{"question": "a", "answers": "b"}', '"answers" is not a list. Write a list of texts.'),
        ('{"question": "a", "answers": ["b", ""]}', "answer 2 is empty. Write a text or remove it."),
        ('{"question": "a", "answers": ["b", null]}', "answer 2 is not a text. Write a text or remove it."),
        ('{"question": "a", "answers": ["b"], "last": 1}', '"last" is not a text. Remove it.'),
        (
            '{"question": "\\ud83d", "answers": ["b"]}',
            '"question" is not valid Unicode: it contains a lone surrogate. Write a text.',
        ),
        (
            json.dumps({"question": unicodedata.normalize("NFD", "안녕 "), "answers": ["b"]}),
            "the same question as in row 1. Put all answers into one of them.",
        ),
    ],
)
def test_a_faulty_row_is_one_line_and_nothing_is_written(golden_file, line, message):
    path = golden_file(GOOD, "", line)
    before = path.read_bytes()
    for call in (
        lambda: read_golden(path),
        lambda: write_golden(path, [GoldenResult(GoldenQuestion("안녕", ("반가워요!",)), "?")]),
        lambda: add_to_golden(path, "q", "a"),
    ):
        with pytest.raises(InputError) as error:
            call()
        assert str(error.value) == f"{path}, row 3: {message}"
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_read_is_one_line(golden_file, tmp_path):
    def refused(path):
        with pytest.raises(InputError) as error:
            read_golden(path)
        return str(error.value)

    assert refused(tmp_path / "nowhere") == f"{tmp_path / 'nowhere'}: no such file"
    assert refused(tmp_path) == f"{tmp_path}: a folder, not a file. Name a JSONL file."
    path = golden_file(GOOD.encode() + b"\n" + '{"question": "야", "answers": ["네"]}'.encode("cp949"))
    assert refused(path) == f"{path}, row 2: not UTF-8. Save the file in UTF-8."
    golden_file(b"\n \n")
    assert refused(path) == f'{path}: holds no question. Add a line such as {{"question": "Hello", "answers": ["Hi!"]}}'
