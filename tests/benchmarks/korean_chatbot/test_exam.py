import json
import os

import pandas as pd
import pytest

from benchmarks.korean_chatbot.exam import Answers, Exam, WorkFolder, file_name, load_or_ask
from keras_transformer import InputError

QUESTIONS = ["안녕", "잘 자"]


def never():
    raise AssertionError("asked again")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "test" / "system-0.jsonl"


@pytest.mark.parametrize("answers", [Answers(["네", "좋은 꿈"]), Answers(["네", ""], [1.5, 2.0], [3, 4])])
def test_what_was_asked_is_not_asked_again(path, answers):
    assert load_or_ask(path, {"epochs": 3}, QUESTIONS, lambda: answers) == answers
    assert load_or_ask(path, {"epochs": 3}, QUESTIONS, never) == answers


@pytest.mark.parametrize(("made_by", "questions"), [({"epochs": 4}, QUESTIONS), ({"epochs": 3}, ["안녕", "잘 가"])])
def test_answers_made_otherwise_or_to_other_questions_are_asked_anew(path, made_by, questions):
    load_or_ask(path, {"epochs": 3}, QUESTIONS, lambda: Answers(["old", "old"]))
    assert load_or_ask(path, made_by, questions, lambda: Answers(["new", "new"])).texts == ["new", "new"]


def test_a_system_that_fails_leaves_nothing(path):
    with pytest.raises(AssertionError, match="asked again"):
        load_or_ask(path, {}, QUESTIONS, never)
    assert not path.exists()


def test_an_exam_asks_each_question_once_and_knows_all_its_answers():
    # By their hashes "질문 53" falls into the test split, "질문 1" and "질문 2" into that of training.
    rows = [("질문 53", "가"), ("질문 1", "나"), ("질문 53 ", "다"), ("질문 2", "라")]
    exam = Exam(pd.DataFrame(rows, columns=["question", "answer"]), "test")
    assert exam.questions == ["질문 53"]
    assert exam.references == [["가", "다"]]
    assert list(exam.train["answer"]) == ["나", "라"]


def test_a_corpus_too_small_to_ask_of_is_told():
    pairs = pd.DataFrame([("질문 1", "나")], columns=["question", "answer"])
    with pytest.raises(InputError, match="too small: none of its 1 pairs falls into the test split"):
        Exam(pairs, "test")


def test_a_work_folder_is_of_one_corpus(corpus, tmp_path):
    work = WorkFolder(tmp_path / "work", corpus)
    assert WorkFolder(tmp_path / "work", corpus).path == work.path
    corpus.write_text("question,answer\nother,corpus\n")
    with pytest.raises(InputError, match="made of another corpus; name another folder with --work"):
        WorkFolder(tmp_path / "work", corpus)


def test_a_folder_of_something_else_is_not_written_to(corpus, tmp_path):
    with pytest.raises(InputError, match="holds something else"):
        WorkFolder(corpus.parent, corpus)
    with pytest.raises(InputError, match="a file; --work wants a folder"):
        WorkFolder(corpus, corpus)
    assert os.listdir(tmp_path) == ["pairs.csv"]


def test_the_file_for_the_peers_holds_questions_and_references(corpus, tmp_path):
    rows = [("질문 53", "가"), ("질문 1", "나"), ("질문 53 ", " 다 ")]
    exam = Exam(pd.DataFrame(rows, columns=["question", "answer"]), "test")
    asked = WorkFolder(tmp_path / "work", corpus).asked(exam).read_text("utf-8").splitlines()
    assert list(map(json.loads, asked)) == [{"question": "질문 53", "references": ["가", "다"]}]


def test_names_of_files_have_no_signs():
    assert file_name("ours: small, 32 samples at 0.7") == "ours_small_32_samples_at_0.7"
