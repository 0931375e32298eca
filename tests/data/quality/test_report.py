"""The whole report, from files."""

import argparse
import json
import pathlib

import pytest

from keras_transformer.data import corpus
from keras_transformer.data.corpus import Corpus, load_pairs
from keras_transformer.data.loading import CorpusWarning
from keras_transformer.data.quality import recommendation
from keras_transformer.data.quality.recommendation import recommend_for
from keras_transformer.data.quality.report import check_corpus
from keras_transformer.data.quality.statistics import Rows
from keras_transformer.data.split import split_pairs
from keras_transformer.data.tokenized import encode_pairs
from keras_transformer.errors import InputError
from keras_transformer.text.tokenizer import Tokenizer

REAL_CORPUS = pathlib.Path(__file__).parents[4] / "shared" / "corpora" / "chatbot_ko" / "ChatbotData.csv"

SOUND = [(f"{number}번 질문이에요?", f"{number % 97}번 대답이에요.") for number in range(1200)]


@pytest.fixture(autouse=True)
def few_questions(monkeypatch):
    """Lets some of 500 questions be held out, so that the corpora of the tests may be small."""
    monkeypatch.setattr(recommendation, "FEW_QUESTIONS", 500)


def write(folder, pairs, name="a.csv", encoding="utf-8", end="\n"):
    path = folder / name
    lines = ["질문,답변", *(f"{question},{answer}" for question, answer in pairs)]
    path.write_bytes("".join(line + end for line in lines).encode(encoding))
    return path


def test_a_sound_corpus_is_fit(tmp_path):
    path = write(tmp_path, SOUND)
    report = check_corpus(path)
    assert (report.verdict, report.unfit, report.warnings) == ("fit", None, ())
    assert (report.pairs, report.repeats.questions, report.repeats.answers) == (1200, 1200, 97)
    assert (report.first, report.texts[report.first]) == (2, ("0번 질문이에요?", "0번 대답이에요."))
    sizes = {name: len(frame) for name, frame in split_pairs(load_pairs(path)).items()}
    split = report.split
    assert {"train": split.train, "validation": split.validation.pairs, "test": split.test.pairs} == sizes
    assert report.question_characters.longest == len("1000번 질문이에요?")
    assert report.question_characters.row == 1002
    assert report.texts[1002] == ("1000번 질문이에요?", "30번 대답이에요.")
    assert report.characters.scripts.keys() == {"Hangul"}


def test_tokens_are_counted_as_training_does(tmp_path):
    path = write(tmp_path, SOUND)
    report = check_corpus(path)
    tokens, vocab_size = report.tokens, report.recommendation.config.vocab_size
    pairs = load_pairs(path)
    train = split_pairs(pairs)["train"]
    of_questions = Tokenizer.train(train["question"], vocab_size, "character")
    of_answers = Tokenizer.train(train["answer"], vocab_size)
    assert tokens.questions.longest == encode_pairs(pairs, of_questions).lengths[:, 0].max()
    assert tokens.answers.longest == encode_pairs(pairs, of_answers).lengths[:, 1].max() + 1
    assert tokens.pairs == 1200
    assert sum(questions for _, _, questions, _ in tokens.histogram) == 1200
    assert tokens.histogram[-1][1] == max(tokens.questions.longest, tokens.answers.longest)


def test_the_recommendation_is_that_of_training(tmp_path):
    path = write(tmp_path, SOUND)
    report = check_corpus(path)
    assert report.recommendation == recommend_for(Corpus(path))[0]
    assert report.command == f"keras-transformer train {path} --run runs/a"


def test_the_report_is_the_same_each_time(tmp_path):
    path = write(tmp_path, [*SOUND, *SOUND[:300]])
    assert check_corpus(path) == check_corpus(path)


def test_json_can_hold_it(tmp_path):
    report = check_corpus(write(tmp_path, [*SOUND, ("1번 질문이에요", "네\u200b"), ("", "네")]))
    whole = json.loads(json.dumps(report.to_dict()))
    assert whole["verdict"] == "fit with warnings"
    assert whole["left_out"] == {"no question": {"count": 1, "first": [1203]}}
    assert whole["faults"] == {"invisible characters": {"count": 1, "first": [1202]}}


def test_parallel_files(tmp_path):
    paths = [tmp_path / "q.txt", tmp_path / "a.txt"]
    for path, side in zip(paths, zip(*SOUND)):
        path.write_text("\n".join(side), encoding="utf-8")
    report = check_corpus(paths)
    assert (report.pairs, len(report.files), report.corpus) == (1200, 2, f"{paths[0]} + {paths[1]}")
    assert f"train {paths[0]} {paths[1]} --run" in report.command


def test_columns_and_encoding_are_in_the_command(tmp_path):
    path = write(tmp_path, SOUND, encoding="cp949")
    report = check_corpus(path, "답변", "질문", encoding="cp949")
    assert "--question '답변' --answer '질문' --encoding cp949" in report.command
    assert report.repeats.questions == 97


@pytest.mark.parametrize("encoding", ["cp949", "utf-16"])
def test_an_encoding_that_is_found_is_a_remark_but_no_fault(tmp_path, encoding):
    path, expected = write(tmp_path, SOUND, encoding=encoding), check_corpus(write(tmp_path, SOUND, name="b.csv"))
    with pytest.warns(CorpusWarning, match=f"not UTF-8; read as {encoding.upper()}"):
        report = check_corpus(path)
    assert (report.warnings, report.pairs, report.sizes) == (expected.warnings, expected.pairs, expected.sizes)
    assert report.files[0].encoding == encoding
    assert "--encoding" not in report.command


# What is unfit


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no question-answer pair in it"),
        ("Q,A\n안녕?,\n".encode(), "no question-answer pair in it"),
        ("Q,A\n안녕?,네\na,\xff\n잘 자,너도\n".encode("latin-1", "xmlcharrefreplace"), "line 3 is not UTF-8"),
        (b"id,text,label\n1,2,3\n", "no known question or answer column among id, text, label"),
    ],
    ids=["empty", "no answer", "broken", "columns"],
)
def test_unfit(tmp_path, data, reason):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    report = check_corpus(path)
    assert report.verdict == "unfit"
    assert reason in report.unfit
    assert report.recommendation is None
    assert json.loads(json.dumps(report.to_dict()))["verdict"] == "unfit"


def test_what_is_left_out_is_told_of_an_unfit_corpus_too(tmp_path):
    report = check_corpus(write(tmp_path, [("안녕?", "")]))
    assert report.left_out == {"no answer": Rows(1, (2,))}
    assert report.warnings == ("1 of 1 rows left out: no answer in 1 row (2): fix or delete them",)


def test_a_few_lines_in_another_encoding_are_named(tmp_path):
    path = write(tmp_path, SOUND)
    path.write_bytes(path.read_bytes().replace("3번 질문이에요?,3번".encode(), "삼,삼".encode("cp949"), 1))
    reason = check_corpus(path).unfit
    assert reason == (
        f"{path}: line 5 is not UTF-8: correct it, or give the encoding of the file with --encoding; "
        f"or correct 1 row (5) of {path}"
    )


# What is wrong with the arguments


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["gone.csv"], {}, "gone.csv: no such file"),
        (["a.csv"], {"encoding": "utf-99"}, "no text encoding is named 'utf-99'"),
        (["a.csv"], {"question": "Q"}, "give both --question and --answer, or neither"),
        (["a.csv"] * 3, {}, "give one corpus file, or two parallel text files, not 3"),
        (["empty"], {}, "empty: no corpus file in this folder"),
    ],
)
def test_wrong_arguments_are_refused(tmp_path, names, options, message):
    write(tmp_path, SOUND[:1])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=message):
        check_corpus([tmp_path / name for name in names], **options)


# What is worth a warning of what is held out, and of what is too long


def test_questions_that_leak_but_for_their_spelling(tmp_path):
    spelled = [(question.replace(" ", ""), answer) for question, answer in SOUND]
    report = check_corpus(write(tmp_path, [*SOUND, *spelled]))
    assert report.split.near_share > 0.8
    (warning,) = report.warnings
    assert warning.endswith("scores will look better than on new questions; delete such repeats")


def test_few_held_out_pairs(tmp_path):
    report = check_corpus(write(tmp_path, SOUND[:700]))
    held = report.split.validation.pairs
    assert report.warnings == (f"validation has only {held} pairs: its scores are noisy; add questions",)


def test_nothing_held_out_of_enough_questions_is_no_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(recommendation, "FEW_QUESTIONS", 2000)
    report = check_corpus(write(tmp_path, SOUND))
    assert (report.verdict, report.recommendation.config.hold_out) == ("fit", False)


@pytest.mark.parametrize("pairs", [1, 300])
def test_too_few_questions_to_hold_any_out(tmp_path, pairs):
    report = check_corpus(write(tmp_path, SOUND[:pairs]))
    assert report.unfit is None
    assert not report.recommendation.config.hold_out
    assert report.sizes == {"train": pairs, "validation": pairs, "test": 0}
    assert report.warnings[-1].startswith("few different questions, so that nothing is held out for validation")


def test_pairs_that_are_too_long_for_any_training(tmp_path):
    long = [(f"{number}째 긴 글", " ".join(map(str, range(number, number + 500)))) for number in range(100)]
    report = check_corpus(write(tmp_path, [*SOUND, *long]))
    assert report.recommendation.config.max_length == 512
    assert report.too_long.first == (1202, 1203, 1204, 1205, 1206)
    (warning,) = report.warnings
    assert warning.startswith("7.7% of the pairs are longer than 512 tokens and left out of training: 100 rows (1202, ")


@pytest.mark.skipif(not REAL_CORPUS.exists(), reason="the corpora are not beside the repository, in ../shared/corpora")
def test_the_korean_corpus():
    report = check_corpus(REAL_CORPUS)
    assert (report.pairs, report.repeats.questions, report.repeats.duplicates.count) == (11_823, 11_662, 73)
    assert (report.split.train, report.split.validation.pairs, report.split.test.pairs) == (10_646, 579, 598)
    assert (report.recommendation.kind, report.recommendation.config.vocab_size) == ("chat", 4000)
    assert report.verdict == "fit"


@pytest.fixture
def talks(tmp_path):
    path = tmp_path / "talks.jsonl"
    path.write_text(
        "\n".join(f'{{"turns": ["hello {i}", "SAME", "bye {i}", "last {i}"]}}' for i in range(300)), "utf-8"
    )
    return path


def test_earlier_turns_lengthen_the_questions(talks):
    alone, joined = (check_corpus(talks, turns=turns) for turns in (1, 2))
    assert joined.pairs == alone.pairs
    assert joined.question_characters.longest == len("hello 299\nSAME")
    assert joined.tokens.questions.longest > alone.tokens.questions.longest
    assert "--turns 2" in joined.command and "--turns" not in alone.command


def test_the_lines_of_an_answer_are_no_turns(tmp_path):
    path = tmp_path / "long.jsonl"
    lines = "\\n".join(["a long line of an answer"] * 30)
    rows = [f'{{"question": "hello {i}", "answer": "{lines if i == 7 else "hi"}"}}' for i in range(700)]
    path.write_text("\n".join(rows), "utf-8")
    assert [check_corpus(path, turns=turns).too_long.count for turns in (1, 2)] == [1, 1]


def test_a_conversation_is_shown_whole(talks):
    report = check_corpus(talks)
    assert report.texts[report.first] == ("hello 0 / SAME / bye 0 / last 0",) * 2
    halves = split_pairs(load_pairs(talks))
    held = report.split.validation.pairs, report.split.test.pairs
    assert (report.split.train, *held) == tuple(map(len, halves.values()))


# Folders and names


def test_a_folder_has_a_short_report(tmp_path):
    (tmp_path / "corpus").mkdir()
    pairs = {"train": SOUND, "dev": SOUND[:30], "test": SOUND[:40]}
    for name, some in pairs.items():
        write(tmp_path / "corpus", some, f"{name}.csv")
    report = check_corpus(tmp_path / "corpus")
    assert (report.verdict, report.warnings) == ("fit", ())
    assert (report.pairs, report.sizes) == (1270, {"train": 1200, "validation": 30, "test": 40})
    assert report.recommendation == recommend_for(Corpus(tmp_path / "corpus"))[0]
    assert report.command == f"keras-transformer train {tmp_path / 'corpus'} --run runs/corpus"
    json.dumps(report.to_dict())


def test_rows_left_out_of_a_folder_are_a_warning(tmp_path):
    write(tmp_path, [*SOUND, ("안녕?", "")])
    (warning,) = check_corpus(tmp_path).warnings
    assert "1 of 1201 rows left out: row 1202: no answer" in warning


def test_an_unfit_folder(tmp_path):
    write(tmp_path, SOUND[:20], "test.csv")
    report = check_corpus(tmp_path)
    assert "leaves none for train" in report.unfit


def test_a_name_of_the_catalog_has_a_short_report(monkeypatch):
    pairs = {"train": SOUND, "test": SOUND[:10]}
    monkeypatch.setattr(corpus, "download_corpus", lambda name: None)
    monkeypatch.setattr(corpus, "find_corpus", lambda name: argparse.Namespace(splits={"train": 1200, "test": 10}))
    monkeypatch.setattr(corpus, "corpus_pairs", lambda name, split: iter(pairs[split]))
    report = check_corpus("talk")
    assert (report.corpus, report.sizes["test"]) == ("talk", 10)
    assert report.command == "keras-transformer train talk --run runs/talk"


def test_what_is_neither_a_file_nor_a_name_is_refused():
    with pytest.raises(InputError, match="no such file; and no corpus is named 'nothing_like_it'"):
        check_corpus("nothing_like_it")
