import json
import shutil

import pandas as pd
import pytest

from benchmarks import chatbot
from keras_transformer import split_pairs


def test_share_right_and_commonest_count_answers():
    assert chatbot.share_of_right_answers(["네", "아니요 "], [["네"], ["아니요", "글쎄요"]]) == 1
    assert chatbot.share_of_right_answers(["네", "아니요"], [["네"], ["글쎄요"]]) == 0.5
    assert chatbot.share_of_most_frequent(["네", "네", "아니요", "글쎄요"]) == 0.5


def test_reworded_questions_keep_their_answers_and_leave_out_what_stays_the_same():
    known = {"뭐 해?": ["쉬어요."], "안녕": ["네."]}
    assert chatbot.reworded(known, lambda question: question.replace(" ", "")) == {"뭐해?": ["쉬어요."]}
    assert chatbot.reworded(known, lambda question: None) == {}


@pytest.mark.slow
def test_a_run_is_measured_and_its_corrections_taken_back(small_run, small_pairs, tmp_path, monkeypatch):
    pairs = pd.concat([small_pairs, split_pairs(small_pairs)["test"]])
    pairs.to_csv(tmp_path / "corpus.csv", index=False)
    shutil.copytree(small_run, tmp_path / "runs" / "0")
    (tmp_path / "runs" / "0.json").write_text('{"seconds": 60}')
    monkeypatch.setattr(chatbot, "CORRECTED", 5)
    arguments = [str(tmp_path / "corpus.csv"), "--runs", str(tmp_path / "runs"), "--seeds", "0", "--split", "test"]
    chatbot.main([*arguments, "--results", str(tmp_path / "RESULTS.md")])
    report = (tmp_path / "RESULTS.md").read_text("utf-8")
    assert "| training, minutes, whole process | 1.0 |" in report
    assert "| corrections that stick | 100.0% |" in report
    assert "| as before once forgotten | 100.0% |" in report
    answers = [json.loads(line) for line in (tmp_path / "runs" / "test.jsonl").read_text("utf-8").splitlines()]
    assert {answer["system"] for answer in answers} == {"the corpus", chatbot.BASELINE, "ours", "ours, generate"}
