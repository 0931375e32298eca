import ast
import json
import pathlib
import runpy
import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_transformer import Chatbot, Config, InputError, Run, Tokenizer, export_litert
from keras_transformer.export import litert
from keras_transformer.text import normalize

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="TensorFlow makes these exports"),
]

ROOT = pathlib.Path(__file__).parents[2]
LETTERS = [
    "가나다라마바사 아자차카타파하",
    "안녕하세요 고마워 잘 자",
    "abcdefghijklm nopqrstuvwxyz",
    "hello good night ?!",
]
CONFIG = Config(vocab_size=360, num_layers=1, d_model=16, num_heads=2, dff=32, max_length=12)
QUESTIONS = [
    "안녕하세요", "고마워 ~", "good night!", "bye!", "", " \t\u3000", "  잘\u3000 자\xa0 ", "\u1112\u1161\u11ab\u1100",
    "가나다라 " * 30, "한\u0085글\u2028", "👩\u200d👧 漢字 é", "▁<s></s><sep>", "hello\nbye", "고마워\n\n hello\n잘 자",
    "a\n" * 40, "가나다라마바사 hello\nabcdefghijklmn\nb", "c\n\t\n",
]  # fmt: skip


def exported(run, folder, **options):
    """The folder of a run's export, made."""
    folder.mkdir()
    litert.write(run, run.load_model(), folder, **options)
    return folder


def answerer(folder):
    """What the folder's program answers with."""
    return litert.load(folder).__self__


def random_run(path, config, tokenizer, target_tokenizer=None):
    """A run whose random weights are so large that no answer is like the others."""
    run = Run.create(path, config, tokenizer, {"name": "none"}, target_tokenizer=target_tokenizer)
    random, model = np.random.default_rng(0), run.build_model()
    for weight in (weight for weight in model.weights if len(weight.shape) == 2):
        weight.assign(random.normal(size=weight.shape))
    run.save_weights({weight.path: weight for weight in model.weights}, {"epoch": 1})
    return run


@pytest.fixture(scope="module")
def small_export(small_run, tmp_path_factory):
    return exported(Run(small_run), tmp_path_factory.mktemp("exports") / "내보낸 것")


@pytest.fixture(scope="module")
def hybrid_export(hybrid_run, tmp_path_factory):
    return exported(Run(hybrid_run), tmp_path_factory.mktemp("exports") / "찾아서 답하는 것")


@pytest.fixture(
    scope="module",
    params=[pytest.param("one tokenizer", marks=pytest.mark.slow), "one table, pre-norm", "two tokenizers"],
)
def conversation_run(request, tmp_path_factory):
    """A run of several turns, cut into jamo; with one tokenizer or two, one table or several, post-norm or pre-norm."""
    tokenizer = Tokenizer.train(LETTERS, CONFIG.vocab_size, jamo=True, separator=True)
    own = Tokenizer.train(LETTERS[::-1], 200, kind="character", jamo=True) if "two" in request.param else None
    shape = {"tie_embeddings": "one table" in request.param, "norm_first": "pre-norm" in request.param}
    config = CONFIG.replace(turns=3, jamo=True, **shape)
    return random_run(tmp_path_factory.mktemp("runs") / "run", config, tokenizer, own)


@pytest.fixture(scope="module")
def conversation_export(conversation_run, tmp_path_factory):
    return exported(conversation_run, tmp_path_factory.mktemp("exports") / "export")


def test_a_folder_answers_as_its_run_does(small_run, small_export, assert_answers_as):
    bot = Chatbot.load(small_run)
    assert bot.reply(QUESTIONS[0]) == "반가워요!"
    assert_answers_as(litert.load(small_export), bot, QUESTIONS)


def test_so_does_that_of_a_run_with_turns_jamo_and_tokenizers_of_its_own(
    conversation_run, conversation_export, assert_answers_as
):
    bot = Chatbot.load(conversation_run.path)
    assert len(set(bot.replies(QUESTIONS))) > 3
    assert_answers_as(litert.load(conversation_export), bot, QUESTIONS)


def test_a_run_that_retrieves_is_exported_as_one(hybrid_run, tmp_path):
    about = export_litert(hybrid_run, tmp_path / "out")
    assert about["answers"] == {"by": "hybrid", "run": "hybrid"}
    assert about["verified"] == {"questions": 16, "equal": 16}
    asked = [*QUESTIONS, "hello", "hello!?", "thank you all", "안녕하세용", "처음 듣는 말"]
    expected = Chatbot.load(hybrid_run).answers(asked)
    found = litert.load(tmp_path / "out")(asked)
    assert found == [(one.text, one.score and pytest.approx(one.score, 1e-3, 1e-4)) for one in expected]
    assert {answer.composed for answer in expected} == {True, False}
    assert found[len(QUESTIONS)] == ("Howdy!", None)


def test_the_program_reads_questions_as_the_chatbot_does(conversation_run, conversation_export):
    bot, program = Chatbot.load(conversation_run.path), answerer(conversation_export)
    asked = [question for question in QUESTIONS if question.strip()]
    ids = bot.ids_of(asked)
    assert [program.ids_of(question) for question in asked] == ids
    assert {len(row) for row in ids} >= {5, CONFIG.max_length}
    assert any(row.count(conversation_run.tokenizer.separator_id) == 2 for row in ids)


def test_the_program_means_the_same_white_space():
    program = runpy.run_path(str(litert.BESIDE / "answer.py"))
    assert program["SPACES"] == normalize.SPACES
    every = "a".join(map(chr, range(0x3100)))
    assert program["normalize"](every) == normalize.normalize(every)


def test_the_model_gives_the_tokens_then_zeros_and_their_log_probability(small_run, small_export):
    bot = Chatbot.load(small_run)
    ids = bot.ids_of(["hello"])[0]
    found = answerer(small_export).model(ids=np.array([ids + [0] * (bot.max_length - len(ids))], "int32"))
    [[(answer, score)]] = bot.n_best(["hello"])
    expected = [*bot.tokenizer.encode(answer), bot.tokenizer.end_id]
    assert found["ids"].shape == (1, bot.max_length - 1)
    np.testing.assert_array_equal(found["ids"][0, : len(expected)], expected)
    assert not found["ids"][0, len(expected) :].any()
    np.testing.assert_allclose(found["scores"], [score], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.variants(1)
def test_no_weights_are_stored_twice(tied, tmp_path):
    config = CONFIG.replace(d_model=128, tie_embeddings=tied)
    run = Run.create(tmp_path / "run", config, Tokenizer.train(LETTERS, CONFIG.vocab_size), {"name": "none"})
    model = run.build_model()
    table, weights = (4 * size for size in (run.tokenizer.vocab_size * config.d_model, model.count_params()))
    size = len(litert.converted(run, model, "float32"))
    assert weights < size < weights + table / 2


def test_int8_answers_too_and_is_smaller(small_run, small_export, tmp_path):
    folder = exported(Run(small_run), tmp_path / "int8", quantization="int8")
    found = litert.load(folder)(["안녕하세요", "", "hello"])
    assert [answer for answer, _ in found] == ["반가워요!", "", "Hi there!"]
    small, large = ((path / "model.tflite").stat().st_size for path in (folder, small_export))
    assert small < 0.7 * large


@pytest.mark.slow  # Both are tested apart.
def test_rounded_weights_retrieve_too(hybrid_run, tmp_path):
    folder = exported(Run(hybrid_run), tmp_path / "int8", quantization="int8")
    found = litert.load(folder)(["안녕하세요", "", "hello"])
    assert found == [("반가워요!", None), ("", 0.0), ("Howdy!", None)]


def test_its_readme_names_all_tensors(hybrid_export):
    program = answerer(hybrid_export)
    assert set(program.model.get_input_details()) == {"ids"}
    assert set(program.model.get_output_details()) == {"ids", "scores"}
    readme = (hybrid_export / "README.md").read_text("utf-8")
    assert all(readme.count(f"`{name}`") >= 2 for name in ("serving_default", "ids", "scores"))


def test_the_folder_holds_what_its_readme_names_and_nothing_else(small_run, small_export, hybrid_export):
    generates, names = ({path.name for path in folder.iterdir()} for folder in (small_export, hybrid_export))
    assert generates == {"model.tflite", "tokenizer.model", "settings.json", "answer.py", "README.md"}
    assert names == generates | {"retrieval.py", "retrieval.npz", "exchanges.jsonl"}
    readme = (small_export / "README.md").read_text("utf-8")
    assert all(readme.count(f"`{name}`") >= 2 for name in names - {"README.md"})  # In English and in Korean.
    settings = json.loads((small_export / "settings.json").read_text("utf-8"))
    assert settings == {"max_length": Run(small_run).config.max_length, "turns": 1}


def test_what_cannot_be_exported_is_said(small_run, tmp_path, monkeypatch):
    run = Run(small_run)
    with pytest.raises(InputError, match="quantization must be one of float32, int8, not 'int4'"):
        litert.write(run, None, tmp_path, quantization="int4")
    monkeypatch.setattr(run.tokenizer, "ending", ".subwords")
    with pytest.raises(InputError, match=r"tokenizer\.subwords: .* train with a SentencePiece tokenizer"):
        litert.write(run, None, tmp_path)
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(InputError, match="set KERAS_BACKEND=tensorflow"):
        litert.write(run, None, tmp_path)


def test_the_program_imports_no_package_but_three():
    tree = ast.parse((litert.BESIDE / "answer.py").read_text("utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    packages = {name.split(".")[0] for name in names} - sys.stdlib_module_names
    assert packages == {"ai_edge_litert", "tensorflow", "numpy", "sentencepiece"}  # TensorFlow's in place of the first.


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_program_answers_where_nothing_but_its_packages_is_installed(
    small_run, small_export, constrained_environment, tmp_path
):
    python = constrained_environment("ai-edge-litert", "numpy", "sentencepiece")
    absent = subprocess.run([python, "-c", "import tensorflow"], capture_output=True, text=True)
    assert "No module named 'tensorflow'" in absent.stderr
    asked = ["", *(question for question in QUESTIONS if "\n" not in question)]
    answered = subprocess.run(
        [python, small_export / "answer.py"], input="\ufeff" + "\r\n".join(asked), capture_output=True,
        cwd=tmp_path, encoding="utf-8", check=True,
    )  # fmt: skip
    assert answered.stdout.split("\n") == [*Chatbot.load(small_run).replies(asked), ""]
