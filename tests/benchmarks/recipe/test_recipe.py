"""The whole command on tiny corpora: our program is a stand-in that memorizes at once."""

import json

import pytest

from benchmarks.programs import Failed
from benchmarks.recipe import __main__ as command
from benchmarks.recipe import measuring
from benchmarks.recipe.corpora import CORPORA, IN_OTHER_WORDS, KNOWN, UNSEEN, Source, downloaded
from benchmarks.recipe.measuring import EXACT, GENERATED, Record, measure, questions_by_score
from keras_transformer import InputError
from keras_transformer.cli.main import parser

OURS = """
import csv, json, pathlib, sys
sys.stdout.reconfigure(encoding="utf-8")
sys.stdin.reconfigure(encoding="utf-8")
name, *words = sys.argv[1:]
with open(pathlib.Path(__file__).with_name("turns"), "a") as turns:
    turns.write(f"{name} {' '.join(words[1:])}\\n")
if name == "train":
    corpus, _, run, _, seed = words
    run = pathlib.Path(run)
    if seed == "9":
        sys.exit("keras-transformer: failed: /some/where: the loss became nan at step 3")
    run.mkdir()
    if seed == "1":
        print("the loss diverged at step 7; going back", file=sys.stderr)
    (run / "knows").write_text(corpus)
    (run / "summary.json").write_text(json.dumps({"best_epoch": 4 + int(seed), "epochs": 6}))
elif name == "answer":
    with open((pathlib.Path(words[0]) / "knows").read_text(), encoding="utf-8") as file:
        known = {row["question"]: row["answer"] for row in csv.DictReader(file)}
    for line in sys.stdin.read().splitlines():
        print(known.get(line, known.get(line.rstrip("~!"), "?")))
elif name == "evaluate":
    run = pathlib.Path(words[0])
    print(json.dumps({"exact_match": 0.5 if run.name.endswith("0") else 0.25}))
"""

PAIRS = [("잘 자", "좋은 꿈 꾸세요."), ("밥 먹었어?", "네, 먹었어요."), ("잘자", "안녕히 주무세요."), ("Hi", "Hello!")]
ASKED = {"Hi": "Hi~", "잘자": "자요", "Bye": "Ciao"}


@pytest.fixture
def turns(tmp_path, ours_is, monkeypatch):
    """A function that returns what the stand-in was told since it was asked last."""
    ours_is(tmp_path / "ours.py", OURS)
    corpora = {
        "talk": Source(KNOWN, "some talk", lambda: PAIRS, asked=lambda: {IN_OTHER_WORDS: ASKED}),
        "doubles": Source(UNSEEN, "numbers and their doubles", lambda: [("1", "2"), ("2", "4")]),
    }
    monkeypatch.setattr(command, "CORPORA", corpora)
    path = tmp_path / "turns"

    def read():
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    return read


@pytest.fixture
def words(tmp_path):
    return ["--runs", str(tmp_path / "runs"), "--report", str(tmp_path / "RECIPE.md")]


def cells(tmp_path, name):
    """The cells of a corpus's row."""
    lines = (tmp_path / "RECIPE.md").read_text("utf-8").splitlines()
    [row] = [line for line in lines if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_every_corpus_is_trained_without_options_and_stands_in_one_table(turns, words, tmp_path):
    command.main([*words, "--seeds", "0", "1"])
    runs = tmp_path / "runs"
    assert turns() == [
        f"train --run {runs}/talk_0 --seed 0", "answer --answer-by generate", "answer ",
        f"train --run {runs}/talk_1 --seed 1", "answer --answer-by generate", "answer ",
        f"train --run {runs}/doubles_0 --seed 0", "evaluate --json",
        f"train --run {runs}/doubles_1 --seed 1", "evaluate --json",
    ]  # fmt: skip
    talk, doubles = cells(tmp_path, "talk"), cells(tmp_path, "doubles")
    assert talk[:5] == ["talk", "4", "known questions", "100.0 (100.0, 100.0)", "100.0 (100.0, 100.0)"]
    assert talk[10] == "50.0 (50.0, 50.0)"
    assert talk[-2:] == ["4 of 6, 5 of 6", "1 of 2"]
    assert doubles[:10] == ["doubles", "2", "unseen questions", "37.5 (50.0, 25.0)", *["–"] * 6]
    text = (tmp_path / "RECIPE.md").read_text("utf-8")
    assert "python -m benchmarks.recipe --runs …/runs" in text and " GiB of memory, " in text
    assert "- `talk`: some talk\n" in text
    assert (runs / "corpora" / "talk.csv").read_text("utf-8").startswith("question,answer\n잘 자,좋은 꿈 꾸세요.\n")
    assert "going back" in (runs / "talk_1.log").read_text("utf-8")


def test_what_was_done_is_not_done_again(turns, words, tmp_path):
    command.main([*words, "--seeds", "0"])
    before = cells(tmp_path, "talk")
    turns()
    command.main([*words, "--seeds", "0", "1", "--only", "talk"])
    assert turns() == [f"train --run {tmp_path}/runs/talk_1 --seed 1", "answer --answer-by generate", "answer "]
    command.main([*words, "--seeds", "0", "--only", "talk"])
    assert turns() == [] and cells(tmp_path, "talk") == before


def test_a_training_that_was_broken_off_or_had_another_corpus_is_done_anew(turns, tmp_path):
    source = command.CORPORA["doubles"]
    run = tmp_path / "doubles_0"
    run.mkdir()
    (run / "half").touch()  # Broken off: there is no record.
    measure(source, "doubles", 0, tmp_path)
    assert len(turns()) == 2 and not (run / "half").exists()
    measure(Source(UNSEEN, "", lambda: [("1", "3")]), "doubles", 0, tmp_path)
    assert len(turns()) == 2
    (run / "summary.json").unlink()
    measure(Source(UNSEEN, "", lambda: [("1", "3")]), "doubles", 0, tmp_path)
    assert [line.split()[0] for line in turns()] == ["train", "evaluate"]


def test_what_fails_is_told_and_costs_the_others_nothing(turns, words, tmp_path):
    command.main([*words, "--seeds", "0", "9", "--only", "doubles"])
    assert cells(tmp_path, "doubles")[3] == "50.0"
    assert cells(tmp_path, "doubles")[-1] == "1 of 2; 1 failed"
    text = (tmp_path / "RECIPE.md").read_text("utf-8")
    assert "- `doubles`: keras-transformer: failed: …/where: the loss became nan at step 3\n" in text
    turns()
    command.main([*words, "--seeds", "9", "--only", "doubles"])
    assert len(turns()) == 1  # It is tried again.
    assert cells(tmp_path, "doubles")[3:11] == ["–"] * 8


def test_a_run_that_could_not_be_asked_is_asked_again(turns, tmp_path, monkeypatch):
    source = command.CORPORA["doubles"]
    with monkeypatch.context() as patch:
        patch.setattr(measuring, "said", fail)
        record = measure(source, "doubles", 0, tmp_path)
    assert (record.failure, record.scores) == ("no test split in …/here", {})
    assert len(turns()) == 1
    record = measure(source, "doubles", 0, tmp_path)
    assert (record.failure, record.scores) == (None, {EXACT: 0.5})
    assert turns() == ["evaluate --json"]


def fail(*words, **options):
    raise Failed("no test split in /some/here")


def test_what_the_program_says_last_is_the_failure(ours_is, tmp_path):
    ours_is(tmp_path / "broken.py", "import sys; sys.exit('some words\\nno such run')")
    with pytest.raises(Failed, match=r"^no such run$"):
        measuring.said(["answer", tmp_path], ["Hi"])


def test_there_must_be_as_many_answers_as_questions(monkeypatch, tmp_path):
    monkeypatch.setattr(measuring, "said", lambda words, lines: "Hello!\n")
    found = measuring.known_scores(tmp_path, {EXACT: [("Hi", ["Hello!"])]})
    assert found == {EXACT: 1.0, GENERATED: 1.0}
    with pytest.raises(Failed, match="1 answers to 2 questions"):
        measuring.known_scores(tmp_path, {EXACT: [("Hi", ["Hello!"]), ("Hi!", ["Hello!"])]})


def test_reworded_questions_that_the_corpus_answers_otherwise_are_left_out():
    asked = questions_by_score(Source(KNOWN, "", lambda: PAIRS))
    assert asked[EXACT][0] == ("잘 자", ["좋은 꿈 꾸세요."])
    assert asked["without spaces"] == [("밥먹었어?", ["네, 먹었어요."])]  # "잘자" has an answer of its own.
    assert asked["another ending"] == [("밥 먹었어요?", ["네, 먹었어요."])]
    assert len(asked["with laughter"]) == 4


def test_any_answer_of_a_question_is_right(turns, tmp_path):
    source = Source(KNOWN, "", lambda: [("Hi", "Hello!"), ("Hi ", "Hey!")])
    record = measure(source, "hi", 0, tmp_path)
    assert record.scores[EXACT] == 1.0
    assert json.loads((tmp_path / "hi_0.json").read_text())["scores"] == record.scores
    assert Record.load(tmp_path / "hi_0.json") == record
    assert Record.load(tmp_path / "none.json") is None


def test_downloaded_corpora_are_found_below_the_folder(tmp_path):
    (tmp_path / "words").mkdir()
    for language in ("fre", "hun"):
        for split in ("train", "dev", "test"):
            (tmp_path / "words" / f"{language}_{split}.tsv").write_text(f"{split}\tt ɛ\n", "utf-8")
    with pytest.raises(InputError, match=r"no ChatbotData\.csv"):
        downloaded(tmp_path)
    (tmp_path / "ChatbotData.csv").write_text("Q,A,label\n12시 땡!,하루가 또 가네요.,0\n", "utf-8")
    found = downloaded(tmp_path)
    assert list(found) == ["pronunciation_fre", "pronunciation_hun", "chatbot_ko"]
    assert found["chatbot_ko"].pairs() == [("12시 땡!", "하루가 또 가네요.")]
    assert found["pronunciation_fre"].pairs() == [("train", "t ɛ"), ("dev", "t ɛ"), ("test", "t ɛ")]
    corpora = tmp_path / "corpora"
    corpora.mkdir()
    path = found["pronunciation_hun"].write(corpora, "pronunciation_hun")
    assert sorted(file.name for file in path.iterdir()) == ["hun_dev.tsv", "hun_test.tsv", "hun_train.tsv"]
    assert found["chatbot_ko"].write(corpora, "chatbot_ko").read_text("utf-8").startswith("question,answer\n12시 땡!")
    assert not set(found) & set(CORPORA)


def test_an_unknown_corpus_is_wrong_usage(turns, words, capsys):
    with pytest.raises(SystemExit) as end:
        command.main([*words, "--only", "nothing"])
    assert end.value.code == 2
    assert "there is no corpus 'nothing', but talk, doubles; or add --corpus-dir" in capsys.readouterr().err


def test_the_real_command_understands_what_it_is_told():
    options = parser().parse_args(["train", "pairs.csv", "--run", "run", "--seed", "1"])
    assert options.corpus == ["pairs.csv"] and options.seed == 1
    assert parser().parse_args(["answer", "run"]).run == parser().parse_args(["evaluate", "run", "--json"]).run
