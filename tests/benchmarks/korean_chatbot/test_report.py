import pathlib
import types

import pandas as pd
import pytest

from benchmarks.korean_chatbot import report
from benchmarks.korean_chatbot.exam import Answers, Exam
from benchmarks.korean_chatbot.scoring import scored

CORPUS = types.SimpleNamespace(path=pathlib.Path("/somewhere/chat.csv"), pairs=range(1234))


@pytest.fixture
def exam():
    rows = [("질문 53", "네, 그래요."), ("질문 54", "밥 먹어요."), ("질문 1", "밥 먹어요."), ("질문 54", "배 *고파*?")]
    return Exam(pd.DataFrame(rows, columns=["question", "answer"]), "test")


@pytest.fixture
def systems(exam):
    """Always the same; a model; ours, of two seeds."""
    same = scored("same", [Answers(["밥 먹어요."] * 2)], exam)
    model = scored("model", [Answers(["그래요.", "_네."], [14.0, 28.0], [7, 14])], exam)
    ours = [Answers(["네, 그래요.", "밥 먹어요."], [7.0, bits], [7, 14]) for bits in (14.0, 35.0)]
    return [same, model], [scored("ours", ours, exam)]


def test_a_row_has_every_score_with_its_bounds(systems):
    [same, model], [ours] = systems
    assert report.score_cells(same)[:2] == ["same", "n/a"]
    assert report.score_cells(same)[4:6] == ["50.0% (0.0%–100.0%)", "100% (100%–100%)"]
    assert report.score_cells(model)[1] == "2.000 (2.000–2.000)"
    # Bits of both seeds: 63 over 42 characters; words "네,", "그래요.", "밥" and "먹어요." all differ.
    assert report.score_cells(ours)[1:3] == ["1.500 (1.000–1.750)", "100.0 (100.0–100.0)"]
    assert report.score_cells(ours)[6:] == ["100%", "100%", "6.5"]


def test_seeds_are_told_of_those_that_have_several(systems):
    others, ours = systems
    rows = report.seeds_table([*others, *ours]).splitlines()[2:]
    assert rows == ["| ours | 1.000 / 2.000 | 100.0 / 100.0 |"]
    assert report.seeds_table(others) is None


def test_ours_stands_beside_the_best_of_all_and_of_the_models(systems):
    others, ours = systems
    header, _, row = report.differences_table(ours, others).splitlines()
    assert header == "| ours, less | chrF of same | bits per character of model | chrF of model |"
    assert "| -0.500 (-1.000 to -0.250) |" in row
    header, _, row = report.differences_table(ours, others[1:]).splitlines()
    # The model is the best of all and of the models: it stands there once.
    assert header == "| ours, less | chrF of model | bits per character of model |"


def test_questions_are_drawn_the_same_each_time_and_shown_with_all_answers(exam, systems):
    others, ours = systems
    shown = list(report.samples(exam, [*others, *ours]))
    assert shown == list(report.samples(exam, [*others, *ours]))
    assert shown[1] == (
        "**질문 54**\n\n- *the corpus: 밥 먹어요. / 배 \\*고파\\*?*\n"
        "- same: 밥 먹어요.\n- model: \\_네.\n- ours: 밥 먹어요."
    )


def test_ten_questions_are_drawn_of_many():
    names = [f"q{number}" for number in range(50)]
    many = types.SimpleNamespace(questions=names, references=[["a"]] * 50)
    assert len(list(report.samples(many, []))) == 10


def test_the_document_holds_it_all(exam, systems, tmp_path):
    others, ours = systems
    settings = [tmp_path / "first.toml", tmp_path / "second.toml"]
    for number, path in enumerate(settings):
        path.write_text(f"dropout = 0.{number}\n")
    variants = {"words": 20.0, "2 to 3 characters": 28.123}
    left_out = ["the peers: no <interpreter>"]
    text = report.document(exam, CORPUS, "`command`, today.", others, ours, variants, settings, left_out)
    assert text.startswith("# Answers to questions of a Korean chat corpus\n\n`command`, today.\n\nAsked are the 2 ")
    assert "the test split of chat.csv,\nwhich have 3 answers there; 1 of its 1,234 pairs are for training." in text
    assert "- the peers: no \\<interpreter\\>" in text
    assert "first.toml`:\n\n```toml\ndropout = 0.0\n```\n\n`" in text
    assert "second.toml`:\n\n```toml\ndropout = 0.1\n```\n\n#" in text
    assert text.index("| 2 to 3 characters | 28.12 |") < text.index("| words | 20.00 |")
    assert "**질문 53**" in text


def test_without_ours_nothing_is_compared(exam, systems):
    text = report.document(exam, CORPUS, "", systems[0], [], {"words": 1.0}, [], [])
    assert "Ours beside" not in text
    assert "Left out" not in text
