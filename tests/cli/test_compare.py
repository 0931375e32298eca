"""The command `compare`: which corpus it asks, what it prints, and what it refuses."""

import json
import shutil

import pytest

from keras_transformer import Run
from keras_transformer.cli.compare import in_lines
from keras_transformer.cli.main import main
from keras_transformer.data.corpus import Corpus
from keras_transformer.training.plan import about_corpus


@pytest.fixture
def corpus(small_pairs, tmp_path):
    path = tmp_path / "말뭉치.csv"
    small_pairs.to_csv(path, index=False)
    return path


@pytest.fixture
def make_run(small_run, tmp_path):
    """A function that makes another copy of the small run, as if it were trained on the corpus at a path, if any."""

    def make(name, path=None):
        copy = shutil.copytree(small_run, tmp_path / name)
        if path:
            about = json.loads((copy / "config.json").read_text("utf-8"))
            corpus = Corpus(path)
            about["corpus"] = about_corpus(corpus.source, corpus.survey())
            (copy / "config.json").write_text(json.dumps(about), "utf-8")
            (copy / "checksums.json").unlink()  # Of the config that was written.
        return copy

    return make


def called(capsys, *words):
    status = main(["compare", *map(str, words)])
    return status, *capsys.readouterr()


def refused(capsys, *words):
    status, out, errors = called(capsys, *words)
    assert (status, out) == (2, "")
    [line] = errors.splitlines()
    return line.removeprefix("keras-transformer: error: ")


def found(*runs):
    scores = {"bits_per_char": 1.5, "chrf": 50, "exact_match": 0.2, "copied": 1, "distinct_1": 0.5}
    differences = {
        "bits_per_char": {"difference": 0.25, "interval": (0.1, 0.4), "significant": True},
        "chrf": {"difference": 3.04, "interval": (1.0, 5.0), "significant": True},
        "exact_match": {"difference": -0.1, "interval": (-0.2, 0.0), "significant": False},
        "copied": {"difference": -0.1, "interval": (-0.2, -0.1), "significant": True},
    }
    answers = ["네, 지금 밥을 먹으러 가요. 같이 가요. 금방 올게요. 조금만 기다려 주세요.", "", "응"][: len(runs)]
    return {
        "runs": [{"run": runs[0], "scores": scores}]
        + [{"run": run, "scores": scores, "differences": differences} for run in runs[1:]],
        "samples": [{"question": "밥 먹었어?", "references": ["네.", "아니요."], "answers": answers}],
        "signatures": {"chrf": "nrefs:1"},
        "questions": 1234,
        "pairs": 2000,
    }


def test_the_tables_are_for_people():
    lines = "\n".join(in_lines(found("runs/첫째", "runs/둘째"), "test split", 60)).splitlines()
    assert lines[:12] == [
        "A  runs/첫째",
        "B  runs/둘째",
        "",
        "test split: 1,234 questions, 2,000 answers to them",
        "",
        "                    A       B  better",
        "bits_per_char   1.500   1.500  less",
        "chrf             50.0    50.0  more",
        "exact_match     20.0%   20.0%  more",
        "copied         100.0%  100.0%",
        "distinct_1      50.0%   50.0%",
        "",
    ]
    assert lines[12:18] == [
        "B − A                  95 % interval",
        "bits_per_char  +0.250  +0.100 to +0.400  significantly worse",
        "chrf             +3.0  +1.0 to +5.0      significantly better",
        "exact_match    -10.0%  -20.0% to +0.0%   may be chance",
        "copied         -10.0%  -20.0% to -10.0%  significant",
        "",
    ]
    assert lines[18].startswith("The intervals come from paired bootstrap resampling")
    assert "chrf: nrefs:1" in lines
    assert lines[-7:] == [
        "",
        "밥 먹었어?",
        "  =  네.",
        "  =  아니요.",
        "  A  네, 지금 밥을 먹으러 가요. 같이 가요. 금방 올게요.",
        "     조금만 기다려 주세요.",
        "  B",
    ]


def test_every_run_but_the_first_has_its_differences():
    text = "\n".join(in_lines(found("a", "b", "c"), "test split", 80))
    assert [line for line in text.splitlines() if "95 %" in line] == [
        "B − A                  95 % interval",
        "C − A                  95 % interval",
    ]


def test_runs_of_one_corpus_are_asked_its_test(make_run, corpus, capsys):
    """The copies of one run answer alike, and training has leaked none of the questions."""
    one, other = make_run("one", corpus), make_run("other", corpus)
    status, out, errors = called(capsys, one, other, "--json")
    compared = json.loads(out)
    count = Run(one).corpus["test"]
    assert (status, errors) == (0, f"Comparing on the test split of {corpus}: {count} of 128 pairs …\n")
    assert compared["pairs"] == count
    assert [run["run"] for run in compared["runs"]] == [str(one), str(other)]
    assert [run["leaked"] for run in compared["runs"]] == [0, 0]
    assert compared["runs"][0]["scores"]["copied"] == 1
    assert {one["difference"] for one in compared["runs"][1]["differences"].values()} == {0}


@pytest.mark.filterwarnings("default")
def test_what_a_run_may_have_met_is_said(make_run, corpus, tmp_path, capsys):
    """The first was trained on another corpus that is gone, the second on one that has all questions."""
    gone = tmp_path / "gone.csv"
    shutil.copy(corpus, gone)
    gone.write_text(gone.read_text("utf-8") + "또 다른 질문,다른 답\n", "utf-8")
    unknown = make_run("unknown", gone)
    gone.unlink()
    asked = tmp_path / "asked.csv"
    asked.write_text("question,answer\n고마워 ~,천만에요.\nhello ^^,Hi there!\n", "utf-8")
    own = make_run("own", corpus)
    status, out, errors = called(capsys, unknown, own, "--corpus", asked)
    assert status == 0
    assert errors.splitlines() == [
        f"Comparing on all 2 pairs of {asked}, as it is not the training corpus …",
        f"keras-transformer: warning: {own}: 2 of 2 questions are in its training data: the scores do not measure "
        "unseen questions",
        f"keras-transformer: warning: {unknown}: trained on another corpus, which was not found: these questions may "
        "have been in its training data",
    ]
    assert "copied" not in out


def test_without_a_corpus_it_must_be_the_same_for_all(make_run, small_run, corpus, capsys):
    own = make_run("own", corpus)
    corpus.write_text(corpus.read_text("utf-8") + "또 다른 질문,다른 답\n", "utf-8")
    other = make_run("other", corpus)
    message = f"{own} and {other} were trained on different corpora: choose one with --corpus CORPUS"
    assert refused(capsys, own, other) == message
    status, out, _ = called(capsys, other, own, "--corpus", corpus, "--json")
    assert status == 0 and "copied" not in json.loads(out)["runs"][0]["scores"]  # What both could copy is not the same.
    assert (
        refused(capsys, small_run, small_run) == f"{small_run}: the path of its corpus is not recorded: name the corpus"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a"], "name between 2 and 26 runs to compare, not 1"),
        (["a"] * 27, "name between 2 and 26 runs to compare, not 27"),
        (["a", "b", "--split", "dev"], "--split: must be one of train, validation, test, not 'dev'"),
        (["a", "b"], "a: there is no such run folder"),
    ],
)
def test_wrong_words_are_one_line(capsys, words, message):
    assert refused(capsys, *words) == message
