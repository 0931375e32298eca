import functools
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

CONSTRAINTS = pathlib.Path(__file__).parents[2] / "constraints.txt"
EXCHANGES = [
    ("배고파", "밥 먹어요."), ("잘 자", "좋은 꿈 꾸세요."), ("배고파", "라면 먹을래요?"), ("hello", "Hi there!"),
    ("Hello", "Good day!"), ("How are you?", "Fine, thank you."), ("오늘 날씨 어때?", "맑아요."),
    ("ＫＴＸ 표는 얼마예요", "오만 원이에요."), ("이별했어 ㅠㅠ", "마음이 아프겠어요."), ("ΟΔΟΣ", "A street."),
    ("are you there", "I am."), ("🙂", "🙂🙂"),
]  # fmt: skip
QUESTIONS = [
    "배고파", "배고파!", "배고파요?", "  배고파 ", "배 고파", "고파", "ㅂ", "배고\u1111\u1161", "\u1107\u1162고파",
    "잘자", "잘\n자", "잘 \u3000 자", "잘 자 잘 자 잘 자", "hello", "Hello", "HELLO", "hello there", "heLlo, you!",
    "ｈｅｌｌｏ", "how are you", "are how you?", "you", "오늘 어때", "날씨", "오늘은 날씨가 참 좋네요. 그렇죠?",
    "ＫＴＸ", "ktx 표", "표는 얼마예요 ＫＴＸ", "ㅠㅠ", "ㅠ", "배고파ㅋㅋ",
    "ㅋㅋ 잘 자 ~!", "이별", "ΟΔΟΣ", "οδος", "οδοσ", "🙂", "🙂👍🏽", "?",
    "漢字", "漢字 배고파", "e\u0301", "a\0b", "", " \t ", "가" * 500,
]  # fmt: skip


@pytest.fixture(scope="session")
def saved_model(small_run, make_once, compile_programs):
    """The small run as a SavedModel, with compiled programs as users have it."""
    from keras_transformer import export_saved_model

    compile_programs()
    return make_once("모델", lambda path: export_saved_model(small_run, path))


@pytest.fixture(scope="session")
def bot(small_run):
    """The small run's chatbot."""
    from keras_transformer import Chatbot

    return Chatbot.load(small_run)


@pytest.fixture(scope="session")
def assert_answers_as():
    """A function that asserts that a reopened export answers as a chatbot does, by scores that are as good as equal."""
    from keras_transformer import GenerationConfig

    def compare(answers, bot, questions, **settings):
        found, expected = answers(questions), [one for [one] in bot.n_best(questions, GenerationConfig(**settings))]
        assert [answer for answer, _ in found] == [answer for answer, _ in expected]
        np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], 1e-3, 1e-4)
        assert all(isinstance(score, float) for _, score in found)  # And no array, which JSON could not hold.

    return compare


@pytest.fixture(scope="session")
def exchanges():
    """Exchanges of a datastore, two of which ask the same."""
    from keras_transformer.chat.datastore import Exchange

    return [Exchange(question, answer) for question, answer in EXCHANGES]


@pytest.fixture(scope="session")
def questions():
    """Questions that are known, near to known ones, or like none."""
    return QUESTIONS


@pytest.fixture(scope="session")
def tokenizer(exchanges):
    """A tokenizer of the questions of the exchanges."""
    from keras_transformer import Tokenizer

    return Tokenizer.train([one.question for one in exchanges], 320)


@pytest.fixture
def make_bot(exchanges, tokenizer, tmp_path):
    """A function that makes a chatbot with a datastore of some exchanges; its model is not trained."""
    from keras_transformer import Chatbot, transformer
    from keras_transformer.chat.datastore import Datastore, questions_and_answers, save_datastore
    from keras_transformer.chat.question_embeddings import learn_embeddings

    model = transformer(tokenizer.vocab_size, num_layers=1, dff=16, d_model=8, num_heads=2, dropout=0.1)

    def make(answering, exchanges=exchanges):
        bot = Chatbot(model, tokenizer, 24)
        save_datastore(tmp_path, "a run", exchanges, learn_embeddings(*questions_and_answers(exchanges)))
        bot.datastore, bot.answering = Datastore(tmp_path, "a run"), answering
        return bot

    return make


@pytest.fixture
def environment(tmp_path):
    """A function that makes an environment of those packages alone and returns its interpreter."""

    def make(*packages):
        subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
        python = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        installed = subprocess.run(install, capture_output=True, text=True, check=False)
        if installed.returncode:
            pytest.skip(f"pip cannot install {', '.join(packages)} here: {installed.stderr.strip().splitlines()[-1]}")
        return python

    return make


@pytest.fixture
def constrained_environment(environment):
    """The same, of the versions in constraints.txt."""
    return lambda *packages: environment("--constraint", str(CONSTRAINTS), *packages)


@pytest.fixture(scope="session")
def hybrid_run(small_run, make_once):
    """The small run, which retrieves where a question is near, and was taught something. No test changes it."""
    from keras_transformer import Chatbot
    from keras_transformer.chat.answering import Answering

    def make(run):
        shutil.copytree(small_run, run)
        Answering("hybrid", 0.6).save(run)
        Chatbot.load(run).datastore.teach("hello", "Howdy!")

    return make_once("hybrid run", make)


@pytest.fixture(scope="session")
def hybrid_export(hybrid_run, make_once):
    """A function that exports that run to a format, once. No test changes the folder."""
    from keras_transformer.export.registry import export

    return functools.cache(lambda kind: make_once(f"찾는 {kind}", lambda path: export(hybrid_run, path, kind)))
