import json
import os
import re
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
import tensorflow_datasets as tfds

from keras_transformer import Beam, Chatbot, Config, InputError, Run, Tokenizer, export_ctranslate2
from keras_transformer.export import ctranslate2_files
from keras_transformer.export.ctranslate2 import QUANTIZATIONS, load, write
from keras_transformer.export.ctranslate2_files.answer import Bot
from keras_transformer.padding import pad
from keras_transformer.text.subwords import Subwords, with_preprocessing

pytestmark = pytest.mark.heavy

PAD, END = 0, 3
TEXTS = ["안녕 나도 응", "how are you", "한 하루 good bye"]
QUESTIONS = [
    "안녕", "", "how are you", " \t\n", "good\u3000bye\n안녕 ", unicodedata.normalize("NFD", "한 하루"), "漢字 😀",
    "<sep>", "<s></s><pad>", "▁", "How, you?", "안녕\n나도\n how  are\ngood bye you", "u\na\n \nw\n응", "응 " * 30,
]  # fmt: skip


RUNS = {
    "one vocabulary": ("pieces", None, {"num_layers": 2}),
    "one matrix": ("pieces", None, {"num_layers": 1, "tie_embeddings": True}),
    "pre-norm": ("pieces", None, {"num_layers": 2, "norm_first": True}),
    "two vocabularies": ("pieces", "words", {"num_layers": 1, "tie_embeddings": True}),
    "letters of Hangul": ("letters", None, {"num_layers": 1}),
    "several turns": ("characters", None, {"num_layers": 1, "turns": 3}),
    "subwords": ("subwords", None, {"num_layers": 1}),
    "subwords of a tutorial": ("spaced", None, {"num_layers": 1}),
    "subwords to pieces": ("subwords", "pieces", {"num_layers": 1}),
}
"""The tokenizer of the questions, that of the answers if they have their own, and settings."""


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    """Tokenizers of every kind by name."""
    prefix = tmp_path_factory.mktemp("vocabulary") / "some"
    tfds.deprecated.text.SubwordTextEncoder(["안녕", "you_", "how", "<s>"]).save_to_file(str(prefix))
    subwords = Tokenizer.load(prefix.with_suffix(".subwords"))
    return {
        None: None,
        "pieces": Tokenizer.train(TEXTS, 300),
        "words": Tokenizer.train(TEXTS, kind="word"),
        "letters": Tokenizer.train(TEXTS, 330, "bpe", jamo=True),
        "characters": Tokenizer.train(TEXTS, kind="character", separator=True),
        "subwords": subwords,
        "spaced": Tokenizer(Subwords(with_preprocessing(subwords.model, "contractions"))),
    }


def made_up(path, tokenizer, target_tokenizer=None, padding=50, end=0, **settings):
    """A run that never trained, and a model of random weights, norms and biases, two of which are raised."""
    config = Config(d_model=16, num_heads=4, dff=24, max_length=12, **settings)
    run = Run.create(path, config, tokenizer, {"name": "none"}, target_tokenizer=target_tokenizer)
    model = run.build_model()
    random = np.random.default_rng(0)
    for weight in model.weights:
        values = random.normal(size=weight.shape, scale=0.3) + weight.path.endswith("gamma")
        if weight.path == "outputs/bias":
            values[[PAD, END]] += padding, end
        weight.assign(values)
    return run, model


def log_probabilities(model, questions, answer):
    """Those of an answer's tokens after the first, to each of some questions, where padding is no choice."""
    inputs = pad(questions)
    dec_inputs = np.array([answer[:-1]] * len(questions), "int32")
    logits = np.asarray(model([inputs, dec_inputs]), "float64")
    logits[:, :, PAD] = -np.inf
    shifted = logits - logits.max(axis=-1, keepdims=True)
    every = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return [[float(row[i]) for row, i in zip(rows, answer[1:])] for rows in every]


@pytest.mark.parametrize("kind", RUNS)
def test_whatever_the_run_answers_and_their_probabilities_are_the_same(kind, tokenizers, tmp_path):
    source, target, settings = RUNS[kind]
    run, model = made_up(tmp_path / "run", tokenizers[source], tokenizers[target], **settings)
    bot = Chatbot(model, run.tokenizer, run.config.max_length, run.target_tokenizer, run.config.turns)
    folder = tmp_path / "exported"
    folder.mkdir()
    write(run, model, folder)
    exported, tokens = Bot(folder), run.target_tokenizer
    assert exported.replies(QUESTIONS) == bot.replies(QUESTIONS)

    asked = [question for question in QUESTIONS if question.strip()]
    answer = tokens.encode("how are you 한 하루")
    rows = [exported.tokens_of(question) for question in asked]
    scores = exported.translator.score_batch(rows, [exported.target_tokenizer.tokens(answer)] * len(rows))
    expected = log_probabilities(model, bot.ids_of(asked), [tokens.start_id, *answer, tokens.end_id])
    np.testing.assert_allclose([score.log_probs for score in scores], expected, atol=2e-5)


def test_an_answer_may_be_empty(tokenizers, tmp_path):
    run, model = made_up(tmp_path / "run", tokenizers["pieces"], end=100, num_layers=1)
    folder = tmp_path / "exported"
    folder.mkdir()
    write(run, model, folder)
    assert Bot(folder).replies(["안녕", "how"]) == ["", ""]


@pytest.fixture(scope="module")
def trained(small_run, tmp_path_factory):
    """The chatbot of a trained run, and the folders of its exports by their quantization."""
    run = Run(small_run)
    model = run.load_model()
    folders = {name: tmp_path_factory.mktemp(name) for name in QUANTIZATIONS}
    for name, folder in folders.items():
        write(run, model, folder, name)
    return Chatbot(model, run.tokenizer, run.config.max_length), folders


@pytest.mark.parametrize("quantization", QUANTIZATIONS)
def test_what_was_learnt_by_heart_survives_every_quantization(quantization, trained):
    folder = trained[1][quantization]
    assert Bot(folder).replies(["잘 자!", "hello", "", "고마워"]) == ["좋은 꿈 꾸세요.", "Hi there!", "", "천만에요."]


def test_its_scores_are_the_runs_whatever_the_length(trained, assert_answers_as):
    bot, folders = trained
    assert_answers_as(load(folders["float32"]), bot, [*QUESTIONS, "thank you", "bye~"])


def test_rounded_weights_are_smaller(trained):
    sizes = {name: (folder / "model.bin").stat().st_size for name, folder in trained[1].items()}
    assert sizes["bfloat16"] / sizes["float32"] == pytest.approx(0.5, abs=0.03)
    assert sizes["int8"] / sizes["float32"] == pytest.approx(0.3, abs=0.03)


def test_without_a_length_penalty_its_beam_search_finds_the_same(tokenizers, tmp_path):
    run, model = made_up(tmp_path / "run", tokenizers["pieces"], padding=-50, num_layers=1)
    bot, folder = Chatbot(model, run.tokenizer, run.config.max_length), tmp_path / "exported"
    folder.mkdir()
    write(run, model, folder)
    answers = bot.replies(QUESTIONS, Beam(num_beams=4, length_penalty=0))
    assert Bot(folder).replies(QUESTIONS, beam_size=4) == answers
    assert Bot(folder).replies(QUESTIONS) != answers


def test_every_white_space_and_composition_is_read_as_in_training(trained):
    bot, folders = trained
    texts = [f"a{chr(code)}b {chr(code)}" for code in range(0x3100)] + ["\u1112\u1161\u11ab", "e\u0301"]
    encode = Bot(folders["float32"]).tokenizer.encode
    assert [encode(text) for text in texts] == bot.tokenizer.encode(texts)


def test_the_example_of_its_readme_runs_without_this_package_and_tensorflow(trained):
    bot, folders = trained
    folder = folders["float32"]
    example = re.search("```python\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.DOTALL)[1]
    questions = ["안녕!", "How are you?"]
    assert json.dumps(questions, ensure_ascii=False) in example
    check = "import sys\nassert not {'keras', 'keras_transformer', 'tensorflow'} & set(sys.modules)\n"
    printed = run_python(folder, "-c", example + check)
    greedy, beam = bot.replies(questions), bot.replies(questions, Beam(num_beams=4, length_penalty=0))
    assert printed == f"{greedy}\n{beam}\n"


def test_its_script_answers_line_by_line(trained):
    questions = "\ufeff잘 자\r\n\nbye\n"
    assert run_python(trained[1]["float32"], "answer.py", given=questions) == "좋은 꿈 꾸세요.\n\nSee you soon!\n"


def run_python(folder, *arguments, given=""):
    """What Python prints in a folder."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, input=given.encode(), capture_output=True, check=True, timeout=300,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    return done.stdout.decode()


def test_an_unknown_quantization_names_the_known(trained, small_run, tmp_path):
    with pytest.raises(InputError, match="does not support int4 weights: use float32, bfloat16, int8"):
        write(Run(small_run), trained[0].model, tmp_path, "int4")
    assert not list(tmp_path.iterdir())


def test_without_ctranslate2_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.delattr(ctranslate2_files, "answer")
    monkeypatch.delitem(sys.modules, Bot.__module__)
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(InputError, match=r"pip install 'keras-transformer-trainer\[ctranslate2\]'"):
        load(tmp_path)


def test_it_answers_in_the_runs_own_way(hybrid_run, tmp_path):
    about = export_ctranslate2(hybrid_run, tmp_path / "out")
    assert about["answers"] == {"by": "hybrid", "run": "hybrid"}
    bot, asked = Chatbot.load(hybrid_run), [*QUESTIONS, "hello!?", "thank you all", "안녕하세용", "처음 듣는 말"]
    expected = [(one.text, one.score and pytest.approx(one.score, 1e-3, 1e-4)) for one in bot.answers(asked)]
    assert {score is None for _, score in expected} == {True, False}
    assert load(tmp_path / "out")(asked) == expected
    assert run_python(tmp_path / "out", "answer.py", given="hello\n\n잘 자\n") == "Howdy!\n\n좋은 꿈 꾸세요.\n"
    assert Bot(tmp_path / "out").replies(["hello"], beam_size=2) != ["Howdy!"]  # With settings it generates.
