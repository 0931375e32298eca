"""The command `test`: what it prints and writes, and how it exits."""

import json

import pytest

from keras_transformer import Chatbot, export_onnx, export_run
from keras_transformer.cli.main import main
from keras_transformer.cli.test import in_lines
from keras_transformer.evaluation.golden import GoldenQuestion, GoldenResult, read_golden

KNOWN = {"안녕하세요": "반가워요!", "잘 자": "좋은 꿈 꾸세요.", "hello": "Hi there!", "bye": "See you soon!"}


@pytest.fixture
def golden(tmp_path):
    """A function that writes a golden file of questions with their answers, and last ones where there are some."""

    def make(answers, **last):
        path = tmp_path / "golden.jsonl"
        records = [
            {"question": question, "answers": answer if isinstance(answer, list) else [answer]}
            | ({"last": last[question]} if question in last else {})
            for question, answer in answers.items()
        ]
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), "utf-8")
        return path

    return make


def called(capsys, *words):
    status = main(["test", *map(str, words)])
    return status, *capsys.readouterr()


def results(*rows):
    return [GoldenResult(GoldenQuestion(question, answers, last), answer) for question, answers, last, answer in rows]


def test_the_tables_are_for_people():
    found = results(
        ("배고파", ("밥 먹어요.",), "밥 먹어요.", "밥 먹어요."),
        ("고마워", ("천만에요.", "별말씀을요.", "아니에요."), None, "네? 무슨 말인지 조금 더 자세히 말해 주세요."),
        ("bye", ("See you!", "Bye!"), "See you!", "Bye!"),
        ("hello", ("Hi!",), "Yes", "Hi!"),
        ("안녕", ("반가워요!",), "반가워요!", ""),
    )
    assert list(in_lines(found, 60)) == [
        "Failed:",
        "question  answered         expected",
        "고마워    네? 무슨 말인지  천만에요. (or 2",
        "          조금 더 자세히   others)",
        "          말해 주세요.",
        "안녕      (nothing)        반가워요!",
        "",
        "Changed since the last update:",
        "question  last       now",
        "안녕      반가워요!  (nothing)  now fails",
        "hello     Yes        Hi!        now passes",
        "bye       See you!   Bye!       still passes",
        "",
        "3 of 5 pass; 2 fail; 3 changed since the last update.",
    ]
    assert list(in_lines(found[:1], 60)) == ["1 of 1 pass; 0 fail; 0 changed since the last update."]
    assert list(in_lines(results(("a", ("b",), None, "b")), 60)) == [
        "1 of 1 pass; 0 fail; no last update to compare with."
    ]


def test_a_run_that_passes_has_status_0_and_one_that_fails_1(small_run, golden, capsys):
    path = golden(KNOWN)
    written = path.read_bytes()
    assert called(capsys, small_run, path) == (
        0,
        "4 of 4 pass; 0 fail; no last update to compare with.\n",
        f"Asking {small_run} 4 questions …\n",
    )
    path = golden(KNOWN | {"bye": ["Bye!", "So long!"]}, hello="Hello!")
    status, out, _ = called(capsys, small_run, path)
    assert status == 1
    assert out.splitlines() == [
        "Failed:",
        "question  answered       expected",
        "bye       See you soon!  Bye! (or 1 other)",
        "",
        "Changed since the last update:",
        "question  last    now",
        "hello     Hello!  Hi there!  now passes",
        "",
        "3 of 4 pass; 1 fail; 1 changed since the last update.",
    ]
    assert golden(KNOWN).read_bytes() == written


def test_json_has_every_result(small_run, golden, capsys):
    path = golden({"안녕하세요": ["안녕!", "반가워요!"], "bye": "Bye!"}, bye="Bye!")
    status, out, _ = called(capsys, small_run, path, "--json")
    assert status == 1
    assert json.loads(out) == {
        "run": str(small_run),
        "questions": 2,
        "passed": 1,
        "failed": 1,
        "changed": 1,
        "results": [
            {
                "question": "안녕하세요", "answer": "반가워요!", "passed": True, "answers": ["안녕!", "반가워요!"],
                "last": None, "change": None,
            },
            {
                "question": "bye", "answer": "See you soon!", "passed": False, "answers": ["Bye!"], "last": "Bye!",
                "change": "now fails",
            },
        ],
    }  # fmt: skip
    assert "반가워요!" in out


def test_an_update_is_what_the_next_test_compares_with(small_run, golden, capsys):
    path = golden({"안녕하세요": ["안녕!", "반가워요!"], "bye": "Bye!"}, bye="Bye!")
    status, out, _ = called(capsys, small_run, path, "--update")
    assert status == 1
    assert out.endswith("1 of 2 pass; 1 fail; 1 changed since the last update.\n")
    assert read_golden(path) == [
        GoldenQuestion("안녕하세요", ("안녕!", "반가워요!"), "반가워요!"),
        GoldenQuestion("bye", ("Bye!",), "See you soon!"),
    ]
    status, out, _ = called(capsys, small_run, path)
    assert status == 1
    assert out.endswith("1 of 2 pass; 1 fail; 0 changed since the last update.\n")


@pytest.mark.parametrize("export", [pytest.param(export_onnx, marks=pytest.mark.slow), export_run])
def test_an_exported_folder_is_tested_by_the_same_command(small_run, golden, tmp_path, capsys, export):
    folder = tmp_path / "exported"
    export(small_run, folder)
    assert called(capsys, folder, golden(KNOWN))[:2] == (0, "4 of 4 pass; 0 fail; no last update to compare with.\n")
    assert called(capsys, folder, golden({**KNOWN, "hello": "Hello!"}))[0] == 1
    (folder / "export.json").write_text("{}")
    status, out, errors = called(capsys, folder, golden(KNOWN))
    assert (status, out) == (2, "")
    assert errors.splitlines()[-1].startswith(f"keras-transformer: error: {folder / 'export.json'}: damaged")


def test_wrong_input_is_one_line_and_status_2_before_the_run_is_read(golden, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Chatbot, "load", lambda path: pytest.fail("was loaded"))

    def refused(path):
        status, out, errors = called(capsys, "run", path, "--update")
        assert (status, out) == (2, "")
        [line] = errors.splitlines()
        return line.removeprefix("keras-transformer: error: ")

    assert refused(tmp_path / "nowhere.jsonl") == f"{tmp_path / 'nowhere.jsonl'}: no such file"
    path = golden(KNOWN)
    path.write_text(path.read_text("utf-8") + '\n{"question": "hello", "answers": ["Hi!"]}\n', "utf-8")
    assert refused(path) == f"{path}, row 6: the same question as in row 3. Put all answers into one of them."


def test_a_run_that_is_not_there_is_one_line(golden, tmp_path, capsys):
    status, out, errors = called(capsys, tmp_path / "nowhere", golden(KNOWN))
    assert (status, out) == (2, "")
    assert errors == f"keras-transformer: error: {tmp_path / 'nowhere'}: there is no such run folder\n"
