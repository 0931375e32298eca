"""The commands `calibrate`, `answer` and `chat` with a fallback: what they print and refuse."""

import dataclasses
import io
import json
import shutil

import pytest

from keras_transformer import Chatbot, Confidence, Run, split_pairs
from keras_transformer.chat.answering import Answering
from keras_transformer.chat.confidence import decoding_settings
from keras_transformer.cli import chat
from keras_transformer.cli.calibrate import in_lines, summary
from keras_transformer.cli.chat import Conversation, answer_lines
from keras_transformer.cli.main import main, parser
from keras_transformer.decoding.options import generation_config
from keras_transformer.runs.tensor_file import tensors_checksum

UNKNOWN = "그건 잘 모르겠어요."
NINETY_NINE = tuple((float(score), 0.5) for score in range(-99, 0))


@pytest.fixture(scope="module")
def corpus(small_pairs, tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "말뭉치.csv"
    small_pairs.to_csv(path, index=False)
    return path


@pytest.fixture
def run(small_run, tmp_path):
    return shutil.copytree(small_run, tmp_path / "run")


@pytest.fixture
def judged(run):
    """A run that refuses answers less likely than -0.3 nats, at any rate."""
    weights = tensors_checksum(run / "weights.safetensors")
    Confidence(((-0.3, 9.0),) * 99, {}, decoding_settings(None, 23), weights).save(Run(run))
    return run


def says(capsys, *words):
    status = main([*map(str, words)])
    out, error = capsys.readouterr()
    return status, out, error


def refused(capsys, *words):
    status, out, error = says(capsys, *words)
    assert (status, out) == (2, "")
    [line] = error.splitlines()
    return line.removeprefix("keras-transformer: error: ")


def typed(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_the_table_is_for_people():
    confidence = Confidence(NINETY_NINE, {"letters": ((-200.0, 0.5), (-98.5, 0.5), (-50.0, 0.51), (0.0, 0.5))}, {}, "0")
    lines = "\n".join(in_lines("runs/가", summary(confidence))).splitlines()
    assert lines[:8] == [
        "runs/가: calibrated on 99 questions",
        "",
        "refusals  least score  most pieces  letters",
        "      2%       -99.00         0.50      50%",
        "      5%       -98.00         0.50      75%",
        "     10%       -95.00         0.50      75%",
        "     20%       -90.00         0.50      75%",
        "   AUROC                              0.750",
    ]
    few = summary(Confidence(((-1.0, 0.5),) * 9, {}, {}, "0"))
    assert [row["refusals"] for row in few["rates"]] == [0.2]


def test_the_validation_part_is_asked(run, corpus, small_pairs, capsys):
    message = f"{run}: the path of its corpus is not recorded: name the corpus"
    assert refused(capsys, "calibrate", run) == message
    status, out, error = says(capsys, "calibrate", run, corpus, "--json")
    count = len(split_pairs(small_pairs)["validation"])
    assert (status, error) == (
        0, f"Asking {count} questions: the validation split of {corpus}: {count} of 128 pairs …\n"
    )  # fmt: skip
    about = json.loads(out)
    assert about["questions"] == len(split_pairs(small_pairs)["validation"])
    found = Confidence.load(run)
    bot = Chatbot.load(run)
    query = split_pairs(small_pairs)["validation"]["question"]
    own = [score for [(_, score)] in bot.n_best(list(query))]
    assert [score for score, _ in found.in_domain] == pytest.approx(own, abs=1e-4)
    assert [pieces for _, pieces in found.in_domain] == bot.pieces(list(query))
    assert about["auroc"].keys() == found.out_of_domain.keys()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--top-k", "2"], "--top-k needs --sample"),
        (["--max-length", "0"], "max_length must be 1 or more, not 0"),
    ],
)
def test_wrong_words_are_one_line_before_anything_is_read(capsys, words, message):
    assert refused(capsys, "calibrate", "no run", *words) == message


def test_what_is_not_there_is_one_line(run, tmp_path, monkeypatch, capsys):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # Where no folder has a similar name.
    assert refused(capsys, "calibrate", "no run") == "no run: there is no such run folder"
    assert refused(capsys, "calibrate", run, "no corpus.csv") == "no corpus.csv: no such file"
    (tmp_path / "alone.csv").write_text("question,answer\nhello,Hi there!\n")
    assert "alone.csv: its validation split holds no pairs" in refused(
        capsys, "calibrate", run, tmp_path / "alone.csv", "--split", "validation"
    )
    (tmp_path / "few.csv").write_text("question,answer\n" + "".join(f"question {i},Hi!\n" for i in range(8)))
    assert refused(capsys, "calibrate", run, tmp_path / "few.csv").endswith(
        "8 questions are too few to calibrate on: ask at least 9, better 39"
    )
    assert not (run / "confidence.json").exists()


def test_a_run_that_held_nothing_out_is_to_be_asked_other_questions(run, corpus, capsys):
    """Its own questions are all known word for word: every other one would be refused."""
    Run(run).change_config(Run(run).config.replace(hold_out=False))
    assert refused(capsys, "calibrate", run).startswith(f"{run}: trained on all questions of its corpus")
    assert not (run / "confidence.json").exists()
    assert says(capsys, "calibrate", run, corpus)[0] == 0


def test_answers_that_are_too_unlikely_are_replaced(judged, capsys, monkeypatch):
    questions = ["hello", "쀍뷁 뛟", "", "잘 자"]
    found = [one for [one] in Chatbot.load(judged).n_best(questions)]
    words = ["answer", judged, "--fallback", UNKNOWN]
    expected = [UNKNOWN if score < -0.3 else answer for answer, score in found]
    assert UNKNOWN in expected
    typed(monkeypatch, "\n".join(questions) + "\n")
    assert says(capsys, *words)[1].splitlines() == expected
    typed(monkeypatch, "\n".join(questions) + "\n")
    told = [json.loads(line)["answers"] for line in says(capsys, *words, "--json")[1].splitlines()]
    assert [answer["answer"] for [answer] in told] == expected
    assert [answer["refused"] for [answer] in told] == [answer == UNKNOWN for answer in expected]
    for [answer], (_, score) in zip(told, found):
        assert answer["score"] == pytest.approx(score, abs=1e-3)
        assert answer["confidence"] == (0.02 if score < -0.3 else 1)


def test_a_conversation_says_the_fallback_whole(judged, capsys, monkeypatch):
    options = parser().parse_args(["chat", str(judged), "--fallback", UNKNOWN])
    all_is_cut_finely = dataclasses.replace(Confidence.load(judged), in_domain=((-1000.0, 0.01),) * 99)
    all_is_cut_finely.save(Run(judged))
    bot = Chatbot.load(judged)
    conversation = Conversation(bot, options)
    for line in ("hello", "/beam 2", "/best 2", "/again"):
        assert conversation.hear(line)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == UNKNOWN
    assert "calibrated for greedy, " in said[1] and "not for beam, num_beams 2" in said[1]
    assert said[2] == "--fallback applies to a single answer: leave out --n-best"
    assert said[3:] == ["hello", UNKNOWN]
    assert conversation.generation == generation_config(options)
    monkeypatch.setattr(chat.Chatbot, "load", lambda run: bot)
    answer_lines(judged, ["hello", "", "漢"], options)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [UNKNOWN, ""]
    assert lines[2].startswith("I do not know any of these characters: 漢")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--refusals", "0.1"], "--refusals needs --fallback TEXT"),
        (["--fallback", "?", "--n-best", "2"], "--fallback applies to a single answer: leave out --n-best"),
        (["--fallback", "?", "--refusals", "1.5"], "the refusal rate must be between 0 and 1"),
        (["--fallback", "?", "--refusals", "0.01"], "a refusal rate of 0.01 is too small for a calibration on 99"),
        (["--fallback", "a\nb"], "the fallback must be a single line, not 'a\\nb'"),
        (["--fallback", "\udcff"], "--fallback is not UTF-8"),
        (["--fallback", "?", "--beam", "3"], "confidence.json: calibrated for greedy, max_length 23, "),
    ],
)  # fmt: skip
def test_a_fallback_that_cannot_be_is_one_line(judged, capsys, words, message):
    for command in ("answer", "chat"):
        assert message in refused(capsys, command, judged, *words)


def test_a_bot_that_memorized_its_corpus_needs_no_calibration(run, capsys, monkeypatch):
    Run(run).change_config(Run(run).config.replace(hold_out=False))
    Answering("retrieve").save(run)
    asked = "잘 자\nwhich book shall I read\n漢字\nWho are you?\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(asked.encode())))
    status, out, error = says(capsys, "chat", run, "--fallback", UNKNOWN)
    assert (status, error) == (0, "")
    *said, greeted = out.splitlines()[:4]
    assert said == ["좋은 꿈 꾸세요.", UNKNOWN, UNKNOWN]
    assert greeted == "I am a bot that answers set questions, for example:"
    status, out, _ = says(capsys, "answer", run, "which book shall I read", "--fallback", UNKNOWN, "--json")
    [answer] = json.loads(out)["answers"]
    assert (answer["answer"], answer["refused"], "confidence" in answer) == (UNKNOWN, True, False)
    for words in (["--refusals", "0.1"], ["--answer-by", "generate"], ["--beam", "2"]):
        assert "the run is not calibrated" in refused(capsys, "answer", run, "hello", "--fallback", UNKNOWN, *words)


def test_without_a_calibration_the_command_to_type_is_named(run, capsys):
    for command in (["answer", run], ["chat", run], ["export", run, run / "out"]):
        line = refused(capsys, *command, "--fallback", UNKNOWN)
        assert line == f"{run}: the run is not calibrated. Calibrate it first: keras-transformer calibrate {run}"
    assert not (run / "out").exists()
