import concurrent.futures
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from keras_transformer import (
    Beam,
    Chatbot,
    GenerationConfig,
    Greedy,
    InputError,
    Sampling,
    export_saved_model,
)
from keras_transformer.chat.answering import Answering
from keras_transformer.export import saved_model as module
from keras_transformer.export.manifest import read_about

pytestmark = pytest.mark.heavy

QUESTIONS = [
    "안녕하세요", "hello", "", "고마워!", "잘 자 ~", "배고파?", "thank you", "good night", "bye :)", "처음 듣는 말",
    " \n ", "🙂👍🏽", "a\0b", "가" * 10_000, "e\u0301", "ᄒ\u1161\u11ab글",
]  # fmt: skip


@pytest.fixture(scope="module")
def signatures(saved_model):
    loaded = tf.saved_model.load(str(saved_model))
    yield loaded.signatures


def texts(tensor):
    return [text.decode() for text in tensor.numpy().ravel()]


def test_answers_are_the_chatbots_together_and_alone(signatures, bot):
    expected = bot.n_best(QUESTIONS)
    found = signatures["serving_default"](questions=tf.constant(QUESTIONS))
    assert texts(found["answers"]) == [answer for [(answer, _)] in expected]
    np.testing.assert_allclose(found["scores"], [score for [(_, score)] in expected], atol=1e-4)
    for question, [(answer, score)] in zip(QUESTIONS, expected):
        alone = signatures["serving_default"](questions=tf.constant([question]))
        assert texts(alone["answers"]) == [answer]
        assert float(alone["scores"][0]) == pytest.approx(score, abs=1e-4)


def test_more_questions_than_a_batch_come_back_in_order(signatures, bot):
    questions = [QUESTIONS[i % 12] for i in range(150)]
    assert texts(signatures["serving_default"](questions=tf.constant(questions))["answers"]) == bot.replies(questions)


def test_no_question_has_no_answer(signatures):
    found = signatures["serving_default"](questions=tf.constant([], tf.string))
    assert found["answers"].shape == found["scores"].shape == (0,)


def test_bytes_that_are_no_text_fail_nothing(signatures, bot):
    found = signatures["serving_default"](questions=tf.constant([b"\xff\xfehello", b"hello"]))
    assert texts(found["answers"]) == bot.replies(["\ufffd\ufffdhello", "hello"])


def test_the_best_answers_are_those_of_a_beam_search(signatures, bot):
    found = signatures["n_best"](questions=tf.constant(QUESTIONS[:6]))
    assert found["answers"].shape == found["scores"].shape == (6, 4)
    expected = bot.n_best(QUESTIONS[:6], GenerationConfig(Beam(4), num_return=4))
    assert texts(found["answers"]) == [answer for answers in expected for answer, _ in answers]
    np.testing.assert_allclose(found["scores"], [[score for _, score in answers] for answers in expected], atol=1e-4)


def test_ids_go_in_and_out(signatures, bot):
    [row] = bot.ids_of(["hello"])
    found = signatures["ids"](inputs=tf.constant([row + [0] * 3, [0] * (len(row) + 3)], tf.int32))
    expected = bot.generate([row])
    assert found["outputs"].numpy().tolist() == [expected.ids[0].tolist(), [0] * (bot.max_length - 1)]
    np.testing.assert_allclose(found["scores"], [expected.scores[0], 0], atol=1e-4)


@pytest.mark.slow
@pytest.mark.compiled
def test_threads_do_not_disturb_each_other(saved_model, bot):
    loaded = tf.saved_model.load(str(saved_model))  # Nothing of it is compiled yet.
    batches = [QUESTIONS[: 1 + i % 5] for i in range(24)]
    with concurrent.futures.ThreadPoolExecutor(6) as threads:
        ask = loaded.signatures["serving_default"]
        found = list(threads.map(lambda batch: texts(ask(questions=tf.constant(batch))["answers"]), batches))
    assert found == [bot.replies(batch) for batch in batches]


@pytest.mark.slow  # Each is compiled for half a minute.
@pytest.mark.compiled
@pytest.mark.parametrize(
    "options",
    [
        {"tokenizer_ops": "tensorflow_text", "forbidden_ids": [300, 301], "no_repeat_ngram": 2},
        {"strategy": Beam(2), "xla": False, "repetition_penalty": 1.3},
        {"strategy": Beam(3, 1.0), "max_length": 6},
        {"strategy": Sampling(1.5, seed=7), "n_best": 2, "min_length": 3},
        {"forbidden": ["꿈", "hi"]},
        {"strategy": Beam(3), "required": ["꿈", "hi"]},
    ],
    ids=str,
)
def test_what_is_chosen_at_the_export_is_what_it_does(small_run, tmp_path, bot, assert_answers_as, options):
    about = export_saved_model(small_run, tmp_path / "out", **options)
    assert about["options"].keys() == {"strategy", *options}
    ask = module.load(tmp_path / "out")
    decoding = {name: value for name, value in options.items() if name not in ("tokenizer_ops", "xla", "n_best")}
    assert_answers_as(ask, bot, QUESTIONS, **decoding)
    several = (
        ask.signature if "n_best" not in options else tf.saved_model.load(str(tmp_path / "out")).signatures["n_best"]
    )
    assert several(questions=tf.constant(["hello"]))["scores"].shape[-1] == options.get("n_best", 1)


def test_it_answers_in_the_way_of_its_run(hybrid_run, hybrid_export):
    assert_it_answers_in_the_way_of(hybrid_run, hybrid_export("saved_model"), "hybrid")


@pytest.mark.slow  # As a hybrid run does.
def test_it_retrieves_as_its_run(hybrid_run, tmp_path):
    run = shutil.copytree(hybrid_run, tmp_path / "run")
    Answering("retrieve").save(run)
    export_saved_model(run, tmp_path / "out", xla=False)
    assert_it_answers_in_the_way_of(run, tmp_path / "out", "retrieve")


def assert_it_answers_in_the_way_of(run, folder, way):
    about = read_about(folder)
    assert about["answers"] == {"by": way, "run": way}
    assert about["verified"] == {"questions": 16, "equal": 16}

    bot = Chatbot.load(run)
    expected = bot.answers(QUESTIONS)
    ask = module.load(folder)
    found = ask.signature(questions=tf.constant(QUESTIONS))
    assert texts(found["answers"]) == bot.replies(QUESTIONS) == [answer.text for answer in expected]
    assert texts(found["answers"])[1] == "Howdy!"
    retrieved = [not answer.composed for answer in expected]
    assert found["retrieved"].numpy().tolist() == retrieved
    assert {*retrieved} == {True, False}
    np.testing.assert_allclose(found["scores"], [answer.score or 0 for answer in expected], 1e-3, 1e-4)
    similarities = [near[0].similarity if near else 0 for near in bot.matches(QUESTIONS)]
    np.testing.assert_allclose(found["similarities"], similarities, atol=1e-4)
    reopened = [(answer.text, answer.score and pytest.approx(answer.score, abs=1e-4)) for answer in expected]
    assert ask(QUESTIONS) == reopened
    saved = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    assert set(saved.meta_graphs[0].signature_def["n_best"].outputs) == {"answers", "scores"}


@pytest.mark.slow  # As other formats do, in seconds.
def test_a_retrieving_run_generates_if_the_export_says_how(small_run, tmp_path, bot, assert_answers_as):
    run = shutil.copytree(small_run, tmp_path / "run")
    Answering("retrieve").save(run)
    about = export_saved_model(run, tmp_path / "out", strategy=Greedy(), xla=False)
    assert about["answers"] == {"by": "generate", "run": "retrieve"}
    ask = module.load(tmp_path / "out")
    assert set(ask.signature.structured_outputs) == {"answers", "scores"}
    assert_answers_as(ask, bot, QUESTIONS[:6])


@pytest.mark.slow  # As a run folder is, in seconds.
def test_eight_bits_are_a_smaller_folder(small_run, saved_model, tmp_path):
    export_saved_model(small_run, tmp_path / "int8", quantization="int8")
    name = "variables/variables.data-00000-of-00001"
    assert (tmp_path / "int8" / name).stat().st_size < 0.4 * (saved_model / name).stat().st_size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": Sampling()}, "needs a seed"),
        ({"tokenizer_ops": "mecab"}, "tokenizer_ops must be one of core, tensorflow_text, not 'mecab'"),
        ({"quantization": "float16"}, "does not support float16 weights: use float32 or int8"),
        ({"max_length": 0}, "max_length must be 1 or more"),
    ],
)
def test_what_cannot_be_is_said_and_leaves_nothing(small_run, tmp_path, monkeypatch, options, message):
    written = []
    monkeypatch.setattr(tf.saved_model, "save", written.append)
    with pytest.raises(InputError, match=message):
        export_saved_model(small_run, tmp_path / "out", **options)
    assert list(tmp_path.iterdir()) == written == []  # It is said before the work is done.


@pytest.mark.slow  # As of other formats.
def test_an_export_whose_answers_are_wrong_is_not_kept(small_run, tmp_path, monkeypatch):
    def load(folder, apply_fallback=True):
        return lambda questions: [("틀렸어요", 0.0)] * len(questions)

    monkeypatch.setattr(module, "load", load)
    with pytest.raises(InputError, match="the export was discarded: only 0 of 16"):
        export_saved_model(small_run, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_tool_of_tensorflow_shows_and_runs_it(saved_model, bot):
    tool = [sys.executable, "-m", "tensorflow.python.tools.saved_model_cli"]
    shown = subprocess.run(
        [*tool, "show", "--dir", saved_model, "--tag_set", "serve", "--signature_def", "serving_default"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "inputs['questions'] tensor_info:\n      dtype: DT_STRING\n      shape: (-1)" in shown
    ran = subprocess.run(
        [*tool, "run", "--dir", saved_model, "--tag_set", "serve", "--signature_def", "serving_default",
         "--input_exprs", "questions=[b'hello']"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert str(bot.reply("hello").encode()) in ran


ALONE = """
import sys
import tensorflow as tf

for name in ("keras_transformer", "tensorflow_text", "sentencepiece", "safetensors"):
    try:
        __import__(name)
    except ImportError:
        continue
    raise SystemExit(f"{name} is here, so that nothing is shown")
loaded = tf.saved_model.load(sys.argv[1])
found = loaded.signatures["serving_default"](questions=tf.constant(sys.argv[2:]))
sys.stdout.buffer.write(b"\\n".join(found["answers"].numpy()))
"""


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_it_needs_nothing_but_tensorflow(saved_model, bot, constrained_environment, tmp_path):
    python = constrained_environment(f"tensorflow=={tf.__version__}")
    questions = ["안녕하세요", "hello", "🙂", ""]
    ran = subprocess.run([python, "-c", ALONE, saved_model, *questions], capture_output=True, cwd=tmp_path, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.decode().split("\n") == bot.replies(questions)
