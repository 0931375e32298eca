"""The command `data check`."""

import json
import os
import subprocess
import sys

import pandas
import pytest

from keras_transformer.cli.data_check import visible
from keras_transformer.cli.main import main
from keras_transformer.data.quality import recommendation


@pytest.fixture(autouse=True)
def few_questions(monkeypatch):
    """Lets some of 500 questions be held out, so that the corpora of the tests may be small."""
    monkeypatch.setattr(recommendation, "FEW_QUESTIONS", 500)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "내 자료.csv"
    rows = [f"{number}번 질문이에요?,{number % 97}번 대답이에요." for number in range(1200)]
    path.write_text("\n".join(["질문,답변", *rows]), encoding="utf-8")
    return path


def check(capsys, *arguments):
    """Exit status, the lines of standard output, and standard error."""
    status = main(["data", "check", *map(str, arguments)])
    output, errors = capsys.readouterr()
    return status, output.splitlines(), errors


def test_a_fit_corpus(corpus, capsys):
    status, lines, errors = check(capsys, corpus)
    assert status == 0
    assert lines[0] == f"{corpus}: {corpus.stat().st_size:,} bytes of utf-8; line ends: 1,200 LF"
    assert "Pairs: 1,200 (different questions: 1,200, answers: 97)" in lines
    assert "  the first: “0번 질문이에요?” (row 2), “0번 대답이에요.” (row 2)" in lines
    assert "    1.1%, 13 times: “0번 대답이에요.” (row 2)" in lines
    start = lines.index("To train on it:")
    assert lines[start + 1] == f"  keras-transformer train '{corpus}' --run 'runs/내 자료'"
    assert lines[start + 2].startswith("  Chosen for chat: question–answer pairs to memorize (1,0")
    assert lines[start + 3].startswith("    questions split into characters, answers into 500 pieces: ")
    shares = [line.split()[:3] for line in lines if line.startswith(("  training ", "  validation ", "  test "))]
    assert shares == [["training", "1,076", "89.7%"], ["validation", "69", "5.8%"], ["test", "55", "4.6%"]]
    assert lines[-1] == "Verdict: fit"
    assert errors == f"reading {corpus} …\nmeasuring vocabularies …\n"


def test_the_bars_of_lengths(corpus, capsys):
    lines = check(capsys, corpus)[1]
    start = lines.index("Tokens, start and end included")
    assert lines[start + 1].split() == ["tokens", "questions", "answers"]
    bars = lines[start + 2 : lines.index("To train on it:") - 1]
    assert max(line.count("#") for line in bars) <= 60
    assert any("#" * 30 in line for line in bars)


def test_warnings_are_numbered_and_counted(corpus, capsys):
    with open(corpus, "a", encoding="utf-8") as file:
        file.write("\n안\u200b녕,네\n대답이 없는 질문,\n")
    status, lines, _ = check(capsys, corpus)
    assert status == 0
    assert lines[-4:] == [
        "  1. 1 of 1,202 rows left out: no answer in 1 row (1203): fix or delete them",
        "  2. invisible characters in 1 row (1202): remove them: texts that look the same are not",
        "",
        "Verdict: fit with warnings (2)",
    ]


def test_an_unfit_corpus(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_bytes("Q,A\n안녕?,네\n".encode("cp949"))
    status, lines, _ = check(capsys, path, "--encoding", "utf-8")
    assert status == 2
    assert lines == [
        f"Verdict: unfit: {path}: line 2 is not UTF-8; the file is cp949: give --encoding cp949, or no --encoding",
    ]


@pytest.mark.filterwarnings("always::keras_transformer.CorpusWarning")
def test_a_corpus_in_another_encoding(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_bytes("Q,A\n안녕?,네\n".encode("cp949"))
    status, lines, errors = check(capsys, path)
    assert status == 0
    assert lines[0] == f"{path}: 13 bytes of cp949; line ends: 2 LF"
    assert f"keras-transformer: warning: {path}: not UTF-8; read as CP949" in errors


def test_a_corpus_too_small_to_hold_any_out(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_bytes("Q,A\n안녕?,네\n".encode("cp949"))
    status, lines, _ = check(capsys, path, "--encoding", "cp949")
    assert status == 0
    assert not any(line.startswith("  split by question") for line in lines)
    assert any(line.startswith("  Chosen for chat: ") and line.endswith(", nothing held out.") for line in lines)
    assert lines[-1] == "Verdict: fit with warnings (1)"


def test_a_folder(corpus, tmp_path, capsys):
    (tmp_path / "parts").mkdir()
    corpus.rename(tmp_path / "parts/train.csv")
    (tmp_path / "parts/dev.csv").write_text("Q,A\n안녕?,네\n", encoding="utf-8")
    status, lines, errors = check(capsys, tmp_path / "parts")
    assert (status, lines[0]) == (0, f"{tmp_path / 'parts'}: 1,201 pairs")
    assert [line.split() for line in lines[1:4]] == [
        ["training", "1,200", "99.9%"], ["validation", "1", "0.1%"], ["test", "0", "0.0%"],
    ]  # fmt: skip
    assert lines[6].endswith(f"--run runs/{'parts'}")
    assert lines[7].startswith("  Chosen for chat: ")
    assert lines[-1] == "Verdict: fit"
    assert errors == f"reading {tmp_path / 'parts'} and measuring vocabularies …\n"


def test_a_spreadsheet(corpus, tmp_path, capsys):
    path = tmp_path / "faq.xlsx"
    pandas.read_csv(corpus).to_excel(path, index=False)
    status, lines, _ = check(capsys, path)
    assert (status, lines[0]) == (0, f"{path}: {path.stat().st_size:,} bytes of XLSX")
    assert "Pairs: 1,200 (different questions: 1,200, answers: 97)" in lines
    assert "  the first: “0번 질문이에요?” (row 2), “0번 대답이에요.” (row 2)" in lines
    assert lines[-1] == "Verdict: fit"


def test_json(corpus, capsys):
    status, lines, _ = check(capsys, corpus, "--json")
    assert status == 0
    (line,) = lines
    found = json.loads(line)
    assert found["verdict"] == "fit"
    assert set(found["recommendation"]) == {"kind", "config", "reasons"}
    assert found["recommendation"]["config"]["vocab_size"] == 500
    assert "0번 대답이에요." in line


def test_json_of_an_unfit_corpus(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("")
    status, lines, _ = check(capsys, path, "--json")
    assert status == 2
    assert json.loads(lines[0])["unfit"].startswith("no question-answer pair in it")


def test_a_file_that_is_not_there_is_an_error_and_no_verdict(tmp_path, capsys):
    status, lines, errors = check(capsys, tmp_path / "a.csv")
    assert (status, lines) == (2, [])
    assert errors == f"keras-transformer: error: {tmp_path / 'a.csv'}: no such file\n"


def test_texts_cannot_command_the_terminal(corpus, capsys):
    with open(corpus, "a", encoding="utf-8") as file:
        file.write("\n" + "\n".join(f"{number}째,\x1b[2J네" for number in range(30)))
    output = "\n".join(check(capsys, corpus)[1])
    assert "\x1b" not in output
    assert r"“\x1b[2J네” (row 1202)" in output


def test_what_is_visible_stays_as_it_is():
    assert visible("안녕 👋, é!") == "안녕 👋, é!"
    assert visible("a\u200bb") == r"a\u200bb"


def test_in_a_process_of_its_own_with_a_plain_c_locale(corpus):
    process = subprocess.run(
        [sys.executable, "-m", "keras_transformer", "data", "check", str(corpus)],
        capture_output=True,
        check=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    output = process.stdout.decode()
    assert output.startswith(f"{corpus}: ")
    assert output.endswith("\n\nVerdict: fit\n")
