import ast
import json
import shutil
import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_transformer import Chatbot, Config, InputError, Run, Tokenizer, export_onnx
from keras_transformer.chat.answering import Answering
from keras_transformer.chat.datastore import questions_and_answers, save_datastore
from keras_transformer.chat.question_embeddings import learn_embeddings
from keras_transformer.export import litert, onnx
from keras_transformer.export.loader import Exported

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="TensorFlow makes these exports"),
]

TEXTS = [
    "가나다라마바사 아자차카타파하",
    "안녕하세요 고마워 잘 자",
    "abcdefghijklm nopqrstuvwxyz",
    "hello good night ?!",
]
CONFIG = Config(vocab_size=360, num_layers=2, d_model=16, num_heads=4, dff=24, max_length=12, turns=3)
QUESTIONS = [
    "안녕하세요", "고마워 ~", "good night!", "bye!", "", " \t\u3000", "  잘\u3000 자\xa0 ", "\u1112\u1161\u11ab\u1100",
    "가나다라 " * 30, "👩\u200d👧 漢字 é", "▁<s></s><sep>", "hello\nbye", "고마워\n\n hello\n잘 자", "a\n" * 40,
]  # fmt: skip


def made_up(path, config, tokenizer, target_tokenizer=None):
    """A run whose random weights are so large that answers differ, and padding is often the likeliest token."""
    run = Run.create(path, config, tokenizer, {"name": "none"}, target_tokenizer=target_tokenizer)
    random, model = np.random.default_rng(0), run.build_model()
    for weight in model.weights:  # Biases too: tf2onnx 1.17 mistakes a shape beside one that is zero throughout.
        scale = 1 if len(weight.shape) == 2 else 0.1
        values = random.normal(size=weight.shape, scale=scale) + weight.path.endswith("gamma")
        if weight.path == "target_embedding/table":
            values[0] *= 3
        weight.assign(values)
    return run, model


@pytest.fixture(scope="module")
def small_export(small_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports") / "내보낸 것"
    export_onnx(small_run, folder)
    return folder


@pytest.fixture(scope="module")
def hybrid_export(hybrid_export):
    return hybrid_export("onnx")


def assert_as_the_run(found, bot, questions):
    expected = bot.answers(questions)
    assert {answer.composed for answer in expected} == {True, False}
    assert found == [(one.text, one.score and pytest.approx(one.score, 1e-3, 1e-4)) for one in expected]


def test_a_folder_answers_as_its_run_does(small_export, bot, assert_answers_as):
    assert bot.reply(QUESTIONS[0]) == "반가워요!"
    assert_answers_as(onnx.load(small_export), bot, QUESTIONS)


def test_so_does_that_of_a_pre_norm_run_with_turns_jamo_two_tokenizers_and_a_shared_table(tmp_path, assert_answers_as):
    tokenizer = Tokenizer.train(TEXTS, CONFIG.vocab_size, jamo=True, separator=True)
    own = Tokenizer.train(TEXTS[::-1], 200, kind="character", jamo=True)
    config = CONFIG.replace(jamo=True, tie_embeddings=True, norm_first=True)
    run, model = made_up(tmp_path / "run", config, tokenizer, own)
    bot, folder = Chatbot(model, tokenizer, CONFIG.max_length, own, CONFIG.turns), tmp_path / "out"
    folder.mkdir()
    onnx.write(run, model, folder)
    assert len(set(bot.replies(QUESTIONS))) > 3
    assert_answers_as(onnx.load(folder), bot, QUESTIONS)


def test_a_run_that_retrieves_is_exported_as_one(hybrid_run, hybrid_export):
    about = json.loads((hybrid_export / "export.json").read_text("utf-8"))
    assert about["answers"] == {"by": "hybrid", "run": "hybrid"}
    assert about["verified"] == {"questions": 16, "equal": 16}
    bot, exported = Chatbot.load(hybrid_run), Exported(hybrid_export)
    asked = [*QUESTIONS, "hello!?", "thank you all", "안녕하세용", "처음 듣는 말"]
    assert_as_the_run(onnx.load(hybrid_export)(asked), bot, asked)
    assert exported.way == "hybrid"
    assert exported.n_best(["hello"]) == [[("Howdy!", None)]]
    assert onnx.load(hybrid_export)(["hello"] * 150) == [("Howdy!", None)] * 150


@pytest.mark.slow  # Both are tested apart.
def test_so_is_one_of_several_turns(tmp_path, exchanges):
    tokenizer = Tokenizer.train(TEXTS, CONFIG.vocab_size, jamo=True, separator=True)
    run, model = made_up(tmp_path / "run", CONFIG.replace(jamo=True), tokenizer)
    run.save_weights({weight.path: weight for weight in model.weights}, {"epoch": 1})
    save_datastore(run.path, run.id, exchanges, learn_embeddings(*questions_and_answers(exchanges)))
    Answering("hybrid", 0.4).save(run.path)
    export_onnx(run.path, tmp_path / "out")
    asked = [*QUESTIONS, "hello\n배고파", "배고파\n오늘 날씨 어때"]
    assert_as_the_run(onnx.load(tmp_path / "out")(asked), Chatbot.load(run.path), asked)


@pytest.mark.slow  # Both are tested apart.
def test_what_was_taught_answers_where_the_run_generates(small_run, tmp_path):
    run = shutil.copytree(small_run, tmp_path / "run")
    bot = Chatbot.load(run)
    bot.datastore.teach("hello", "Howdy!")
    about = export_onnx(run, tmp_path / "out")
    assert about["answers"] == {"by": "generate", "run": "generate"}
    assert_as_the_run(onnx.load(tmp_path / "out")([*QUESTIONS, "hello"]), bot, [*QUESTIONS, "hello"])


def test_the_program_retrieves_where_it_stands(hybrid_export, tmp_path):
    answered = subprocess.run(
        [sys.executable, hybrid_export / "answer.py"], input="hello\n\n잘 자\n", capture_output=True, cwd=tmp_path,
        encoding="utf-8", check=True,
    )  # fmt: skip
    assert answered.stdout == "Howdy!\n\n좋은 꿈 꾸세요.\n"


def test_more_questions_than_a_batch_come_back_in_order(small_export, bot):
    asked, replies = ([row[i % 11] for i in range(150)] for row in (QUESTIONS, bot.replies(QUESTIONS)))
    assert [answer for answer, _ in onnx.load(small_export)(asked)] == replies
    assert onnx.load(small_export)([]) == []


def test_no_weights_are_stored_twice(small_export, bot):
    from onnx import load

    models = [load(small_export / name) for name in (onnx.ENCODER, onnx.DECODER)]
    sizes = [np.prod(x.dims) for model in models for x in model.graph.initializer]
    assert bot.model.count_params() <= sum(sizes) < 1.01 * bot.model.count_params()


def test_int8_answers_too_and_is_smaller(small_run, small_export, tmp_path):
    about = export_onnx(small_run, tmp_path / "int8", quantization="int8")
    found = onnx.load(tmp_path / "int8")(["안녕하세요", "", "hello"])
    assert [answer for answer, _ in found] == ["반가워요!", "", "Hi there!"]
    for name in (onnx.ENCODER, onnx.DECODER):  # Operations, which are not rounded, are many in so small a model.
        assert about["files"][name]["bytes"] < 0.7 * (small_export / name).stat().st_size


@pytest.mark.slow  # Both are tested apart.
def test_rounded_weights_retrieve_too(hybrid_run, tmp_path):
    about = export_onnx(hybrid_run, tmp_path / "int8", quantization="int8")
    assert about["answers"]["by"] == "hybrid"
    found = onnx.load(tmp_path / "int8")(["안녕하세요", "", "hello"])
    assert found == [("반가워요!", None), ("", 0.0), ("Howdy!", None)]


def test_the_folder_holds_what_its_readme_names_and_nothing_else(small_export, hybrid_export):
    generates, names = ({path.name for path in folder.iterdir()} for folder in (small_export, hybrid_export))
    assert generates == {
        "encoder.onnx", "decoder.onnx", "tokenizer.model", "settings.json", "answer.py", "README.md", "export.json",
    }  # fmt: skip
    assert names == generates | {"retrieval.py", "retrieval.npz", "exchanges.jsonl"}
    readme = (small_export / "README.md").read_text("utf-8")
    assert all(readme.count(f"`{name}`") >= 2 for name in names - {"README.md"})  # In English and in Korean.
    assert json.loads((small_export / "settings.json").read_text("utf-8")) == {"max_length": 24, "turns": 1}


def test_its_readme_names_all_tensors(small_export):
    from onnxruntime import InferenceSession

    readme = (small_export / "README.md").read_text("utf-8").replace("`….value`", "`layers.N.self_attention.value`")
    for model in (onnx.ENCODER, onnx.DECODER):
        session = InferenceSession(small_export / model)
        for tensor in (*session.get_inputs(), *session.get_outputs()):
            name = tensor.name.replace(".0.", ".N.").replace("value", "key")
            assert readme.count(f"`{name}`") >= 2, name


def test_what_cannot_be_exported_is_said(small_run, tmp_path, monkeypatch):
    run = Run(small_run)
    with pytest.raises(InputError, match="quantization must be one of float32, int8, not 'int4'"):
        onnx.write(run, None, tmp_path, quantization="int4")
    monkeypatch.setattr(run.tokenizer, "ending", ".subwords")
    with pytest.raises(InputError, match=r"tokenizer\.subwords: .* to export to ONNX, train with a SentencePiece"):
        onnx.write(run, None, tmp_path)
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(InputError, match="set KERAS_BACKEND=tensorflow"):
        onnx.write(run, None, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("package", ["tf2onnx", "onnxruntime"])
def test_a_missing_package_names_the_extra(package, small_run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(onnx, "functions", None)  # It is said before the work is done.
    with pytest.raises(
        InputError, match=rf"the package {package}, which is missing: pip install 'keras-transformer-trainer\[onnx\]'"
    ):
        export_onnx(small_run, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_to_ask_a_folder_takes_no_converter(small_export, monkeypatch):
    monkeypatch.setitem(sys.modules, "tf2onnx", None)
    assert onnx.load(small_export)([""]) == [("", 0.0)]
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(InputError, match="the package onnxruntime"):
        onnx.load(small_export)


def test_the_program_reads_questions_as_that_of_litert_which_is_tested():
    programs = [ast.parse((module.BESIDE / "answer.py").read_text("utf-8")) for module in (litert, onnx)]
    for name in ("SPACES", "SEPARATOR", "normalize", "ids_of", "turns_of", "load_retriever"):
        ours, theirs = (ast.dump(defined(name, program)) for program in programs)
        assert ours == theirs


def defined(name, program):
    """Where a name gets its meaning."""
    [found] = [node for node in ast.walk(program) if name in (getattr(node, "name", None), target_of(node))]
    return found


def target_of(node):
    """The name that an assignment gives a value; None if it is no such."""
    return node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None


def test_the_program_imports_no_package_but_three():
    tree = ast.parse((onnx.BESIDE / "answer.py").read_text("utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    packages = {name.split(".")[0] for name in names} - sys.stdlib_module_names
    assert packages == {"onnxruntime", "numpy", "sentencepiece"}


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_program_answers_where_nothing_but_its_packages_is_installed(
    small_export, bot, constrained_environment, tmp_path
):
    python = constrained_environment("onnxruntime", "numpy", "sentencepiece")
    absent = subprocess.run([python, "-c", "import tensorflow"], capture_output=True, text=True)
    assert "No module named 'tensorflow'" in absent.stderr
    asked = ["", *(question for question in QUESTIONS if "\n" not in question)]
    answered = subprocess.run(
        [python, small_export / "answer.py"], input="\ufeff" + "\r\n".join(asked), capture_output=True,
        cwd=tmp_path, encoding="utf-8", check=True,
    )  # fmt: skip
    assert answered.stdout.split("\n") == [*bot.replies(asked), ""]
