"""The command `evaluate`: what it reads, what it prints, and what it refuses."""

import json
import shutil

import pytest

from keras_transformer import InputError, Run, split_pairs
from keras_transformer.cli.evaluate import table_lines
from keras_transformer.cli.evaluation_data import read_split
from keras_transformer.cli.main import main, parser
from keras_transformer.data.corpus import Corpus
from keras_transformer.training.plan import about_corpus


@pytest.fixture
def corpus(small_pairs, tmp_path):
    path = tmp_path / "말뭉치.csv"
    small_pairs.to_csv(path, index=False)
    return path


def refused(capsys, *words):
    assert main(["evaluate", *map(str, words)]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    [line] = error.splitlines()
    return line.removeprefix("keras-transformer: error: ")


def evaluated(capsys, *words):
    assert main(["evaluate", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_table_is_for_people():
    bounds = {"chrf": (40.04, 60.0), "exact_match": (0.1, 0.3)}
    found = {
        "bits_per_char": 1.5, "loss": 2, "perplexity": 7.389, "chrf": 50, "bleu": 0, "exact_match": 0.2, "copied": None,
        "word_error_rate": 1.25, "distinct_1": 0.5, "distinct_2": 1, "answer_length": 11.04, "intervals": bounds,
        "signatures": {"chrf": "nrefs:1"},
    }  # fmt: skip
    lines = list(table_lines(found))
    assert lines[0] == 25 * " " + "95 % interval"
    assert lines[4].startswith("chrf               50.0  40.0 to 60.0    character n-gram F-score")
    assert lines[6].startswith("exact_match       20.0%  10.0% to 30.0%  answers equal to a reference answer")
    assert lines[7].startswith("word_error_rate  125.0%                  word edits")
    assert not any("copied" in line for line in lines)
    assert lines[-2:] == ["", "chrf: nrefs:1"]


def test_the_part_named_is_asked_and_the_runs_own_training_part_known(small_run, small_pairs, corpus, capsys):
    splits = split_pairs(small_pairs)
    found = evaluated(capsys, small_run, corpus, "--split", "validation")
    assert found["pairs"] == len(splits["validation"])
    assert found["copied"] == 1
    assert found["bits_per_char"] == pytest.approx(Run(small_run).summary()["val_bits_per_char"], abs=1e-3)
    corpus.write_text(corpus.read_text("utf-8") + "또 다른 질문,다른 답\n", "utf-8")
    assert main(["evaluate", str(small_run), str(corpus), "--beam", "2", "--split", "test"]) == 0
    printed, error = capsys.readouterr()
    printed, tested = printed.splitlines(), len(splits["test"])
    assert error == f"Evaluating on the test split of {corpus}: {tested} of 129 pairs …\n"
    assert printed[0] == f"{small_run}, test split: {tested} questions, {tested} answers to them"
    assert not any(line.startswith("copied") for line in printed)  # It is another corpus now.
    assert any(line.startswith("exact_match") for line in printed)


@pytest.mark.filterwarnings("default")
def test_another_file_is_asked_whole_unless_a_split_is_named(small_run, tmp_path, capsys):
    other = tmp_path / "다른.csv"
    other.write_text("question,answer\n" + "".join(f"처음 {i},대답\n" for i in range(40)), "utf-8")
    assert main(["evaluate", str(small_run), str(other)]) == 0
    out, error = capsys.readouterr()
    assert f"Evaluating on all 40 pairs of {other}, as it is not the training corpus …" in error.splitlines()
    assert out.splitlines()[0] == f"{small_run}, all pairs: 40 questions, 40 answers to them"
    assert evaluated(capsys, small_run, other, "--split", "train")["pairs"] < 40


@pytest.mark.parametrize("changed", [False, True])
def test_the_runs_own_corpus_is_known_by_its_pairs_and_by_its_path(changed, small_run, small_pairs, corpus, tmp_path):
    """Of a corpus that was changed after the training, the test split still holds what was not trained on."""
    small, own = Run(small_run), Corpus(corpus)
    run = Run.create(tmp_path / "run", small.config, small.tokenizer, about_corpus(own.source, own.survey()))
    if changed:
        corpus.write_text(corpus.read_text("utf-8") + "또 다른 질문,다른 답\n", "utf-8")
    else:
        corpus = corpus.rename(tmp_path / "moved.csv")
    found = read_split(parser().parse_args(["evaluate", str(run.path), str(corpus)]), run)
    assert (found.split, found.corpus_pairs) == ("test", 128 + changed)
    assert (found.training_answers is None) == changed


def test_a_corpus_divided_into_files_is_asked_its_test_file(small_run, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, rows in {"train.csv": range(9), "test.csv": range(9, 12)}.items():
        (folder / name).write_text("question,answer\n" + "".join(f"질문 {i},답\n" for i in rows), "utf-8")
    found = read_split(parser().parse_args(["evaluate", "run", str(folder)]), Run(small_run))
    assert (found.split, len(found.pairs), found.corpus_pairs) == ("test", 3, 12)


@pytest.mark.parametrize("words", ["evaluate run", "report run --output a.html", "compare run other", "calibrate run"])
def test_commands_that_use_one_answer_do_not_offer_several(words, capsys):
    with pytest.raises(SystemExit):
        main([*words.split(), "--n-best", "2"])
    assert "unrecognized arguments: --n-best 2" in capsys.readouterr().err


def test_a_run_with_a_validation_of_its_own_has_no_test_in_its_corpus(small_run, corpus, tmp_path):
    """All of the corpus was trained on."""
    small, own = Run(small_run), Corpus(corpus, validation=corpus)
    about = about_corpus(own.source, own.survey())
    run = Run.create(tmp_path / "run", small.config, small.tokenizer, about)
    words = ["evaluate", str(run.path), str(corpus)]
    with pytest.raises(InputError, match=r"말뭉치\.csv: its test split holds no pairs: choose another with --split"):
        read_split(parser().parse_args(words), run)
    found = read_split(parser().parse_args([*words, "--split", "validation"]), run)
    assert (len(found.pairs), len(found.training_answers)) == (128, 8)


def test_a_run_that_holds_nothing_out_asks_for_new_questions(small_run, corpus, tmp_path):
    small, own = Run(small_run), Corpus(corpus)
    about = about_corpus(own.source, own.survey(hold_out=False))
    run = Run.create(tmp_path / "run", small.config.replace(hold_out=False), small.tokenizer, about)
    for words, command in [
        (["evaluate", "R"], "keras-transformer evaluate R FILE"),
        (["compare", "R", "S"], "keras-transformer compare R S --corpus FILE"),
    ]:
        with pytest.raises(InputError) as refused:
            read_split(parser().parse_args(words), run)
        message = (
            "trained on all questions of its corpus, with none held out: name a file of unseen questions and answers"
        )
        assert str(refused.value) == f"{run.path}: {message}: {command}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--split", "dev"], "--split: must be one of train, validation, test, not 'dev'"),
        (["--top-k", "2"], "--top-k needs --sample"),
        (["--beam", "0"], "the number of beams must be at least 1, not 0"),
    ],
)
def test_wrong_words_are_one_line_before_anything_is_read(capsys, words, message):
    assert refused(capsys, "no run", "no corpus.csv", *words) == message


def test_what_is_not_there_is_one_line(small_run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # Where no folder has a similar name.
    assert refused(capsys, "no run", "no corpus.csv") == "no run: there is no such run folder"
    assert refused(capsys, small_run, "no corpus.csv") == "no corpus.csv: no such file"
    alone = tmp_path / "alone.csv"
    alone.write_text("question,answer\nhello,Hi there!\n")
    message = f"{alone}: its test split holds no pairs: choose another with --split, or name a file of unseen questions"
    assert refused(capsys, small_run, alone, "--split", "test") == message


@pytest.mark.filterwarnings("default")
def test_the_training_file_of_a_folder_asked_for_by_itself_is_no_test_and_the_folder_is(small_run, tmp_path, capsys):
    """Parted by the hash, a twentieth of it would be called a test, though all of it was trained on."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, rows in {"train.csv": range(100), "dev.csv": range(100, 110), "test.csv": range(110, 113)}.items():
        (folder / name).write_text("question,answer\n" + "".join(f"질문 {i},답\n" for i in rows), "utf-8")
    run, own = shutil.copytree(small_run, tmp_path / "run"), Corpus(folder)
    about = json.loads((run / "config.json").read_text("utf-8"))
    about["corpus"] = about_corpus(own.source, own.survey())
    (run / "config.json").write_text(json.dumps(about), "utf-8")
    (run / "checksums.json").unlink()  # Of the config that was written.
    assert main(["evaluate", str(run), str(folder / "train.csv"), "--split", "test", "--json"]) == 0
    out, errors = capsys.readouterr()
    count = json.loads(out)["questions"]
    assert json.loads(out)["leaked"] == count > 0
    what = f"{count} of {count} questions are in its training data: the scores do not measure unseen questions"
    assert f"keras-transformer: warning: {run}: {what}" in errors.splitlines()
    assert main(["evaluate", str(run), "--json"]) == 0  # The run's own corpus, as none is named.
    out, errors = capsys.readouterr()
    assert (json.loads(out)["questions"], json.loads(out)["leaked"], "warning" in errors) == (3, 0, False)


def test_each_way_of_answering_is_measured(small_run, corpus, capsys):
    words = (small_run, corpus, "--split", "validation")
    for asked, answered in (([], "generate"), (["--answer-by", "retrieve"], "retrieve"), (["--beam", "2"], "generate")):
        assert evaluated(capsys, *words, *asked)["answer_by"] == answered
    assert main(["evaluate", *map(str, words), "--answer-by", "hybrid"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(" answers to them, answered by hybrid")
