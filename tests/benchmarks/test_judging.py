import json

import pytest

from benchmarks import judging

ROWS = [
    ("안녕", "the corpus", "네."),
    ("안녕", "ours", "네."),
    ("안녕", "theirs", "꼬르륵"),
    ("뭐 해?", "ours", "쉬어요."),
]


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.jsonl"
    lines = [json.dumps({"question": q, "system": s, "answer": a}, ensure_ascii=False) for q, s, a in ROWS]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_sheet_has_each_answer_once_and_names_no_system(answers, tmp_path):
    judging.main(["blind", str(answers), str(tmp_path / "sheet.tsv")])
    header, *rows = (tmp_path / "sheet.tsv").read_text("utf-8").splitlines()
    assert header == "question\tanswer\tmark"
    assert sorted(rows) == ["뭐 해?\t쉬어요.\t", "안녕\t꼬르륵\t", "안녕\t네.\t"]


def test_marks_are_counted_by_system(answers, tmp_path, capsys):
    sheet = tmp_path / "sheet.tsv"
    sheet.write_text("question\tanswer\tmark\n안녕\t네.\t2\n안녕\t꼬르륵\t0\n뭐 해?\t쉬어요.\t1\n", encoding="utf-8")
    judging.main(["score", str(answers), str(sheet), str(sheet), "--out", str(tmp_path / "judged.tsv")])
    table = capsys.readouterr().out.splitlines()
    assert "| ours | 50% | 50% | 0% | 0% |" in table
    assert "| theirs | 0% | 0% | 100% | 100% |" in table
    assert "안녕\t네.\tthe corpus, ours\t2\t2" in (tmp_path / "judged.tsv").read_text("utf-8").splitlines()


def test_a_missing_mark_is_named(answers, tmp_path):
    sheet = tmp_path / "sheet.tsv"
    judging.main(["blind", str(answers), str(sheet)])
    with pytest.raises(ValueError, match="the mark is ''"):
        judging.main(["score", str(answers), str(sheet), "--out", str(tmp_path / "judged.tsv")])
