"""Knowing when not to answer: what is asked, and what the table says."""

import shutil

import pytest

from benchmarks import confidence
from keras_transformer import Confidence

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore::keras_transformer.CorpusWarning")]
TEN = tuple((float(score), 0.0) for score in range(-9, 0))  # With a new one they are ten.


def test_the_table_has_the_test_part_first_and_shares_by_the_rate():
    asked = {"test split": [(-9.5, 0), (-5, 0), (-4, 0), (-3, 0)], "French": [(-20, 0), (-3, 1)]}
    made = Confidence(TEN, {}, {}, "0")
    assert confidence.report(made, asked)[1].splitlines()[2:] == [
        "| test split | 4 | 0.0% | 0.0% | 0.0% | 0.0% | 25.0% |  |  |  |",
        "| French | 2 | 0.0% | 0.0% | 0.0% | 0.0% | 100.0% | 0.875 | 0.562 | 0.750 |",
    ]


def test_a_copy_of_the_run_is_asked(small_run, small_pairs, tmp_path, monkeypatch):
    corpus, words = tmp_path / "pairs.csv", tmp_path / "fre_test.tsv"
    small_pairs.to_csv(corpus, index=False)
    words.write_text("enfer\tɑ̃ f ɛ ʁ\nserres\ts ɛ ʁ\n", "utf-8")
    run = shutil.copytree(small_run, tmp_path / "run")
    figure, results = tmp_path / "curves.svg", tmp_path / "RESULTS.md"
    monkeypatch.setattr(confidence, "MOST", 20)
    confidence.main(
        [str(run), str(corpus), "--foreign", f"French={words}", "--figure", str(figure), "--results", str(results)]
    )
    names = [line.split(" | ")[:2] for line in results.read_text("utf-8").splitlines() if line.startswith("| ")][2:]
    assert [name for name, _ in names[:4]] == [
        "| test split", "| small talk in Korean", "| small talk in English", "| French",
    ]  # fmt: skip
    assert [number for _, number in names[1:4]] == ["20", "20", "2"]
    assert "</svg>" in figure.read_text("utf-8")
    assert not (run / "confidence.json").exists()


def test_wrong_words_are_refused(capsys, tmp_path):
    for words in ("French", "French=", f"French={tmp_path / 'none.tsv'}", "=x"):
        with pytest.raises(SystemExit):
            confidence.main(["run", "corpus", "--foreign", words])
        assert "must be NAME=FILE, of a file that is there" in capsys.readouterr().err
