"""A fallback in every format: it stands where the run's own stands, and the scores stay."""

import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

from keras_transformer import Beam, Chatbot, Confidence, GenerationConfig, InputError, Run, calibrate
from keras_transformer.chat.answering import Answering
from keras_transformer.cli.info import in_lines
from keras_transformer.export import registry
from keras_transformer.export.loader import Exported
from keras_transformer.export.manifest import questions_of
from keras_transformer.export.registry import check_fallback, export
from keras_transformer.export.saved_model import ServingModule

pytestmark = pytest.mark.heavy


def slow(kind):
    return pytest.param(kind, marks=pytest.mark.slow)


UNKNOWN = "그건 잘 모르겠어요."
QUESTIONS = ["hello", "쀍뷁 뛟", "", "잘 자", "zq xv", "고마워!", "bye bye bye", "what is this", "배고파"]


@pytest.fixture(scope="module")
def calibrated(small_run, tmp_path_factory):
    """The small run, whose questions of the export fall on both sides of every rate."""
    path = shutil.copytree(small_run, tmp_path_factory.mktemp("calibrated") / "run")
    asked = [question for question in questions_of(Run(path).tokenizer) if question]
    calibrate(path, asked)
    return path


@pytest.fixture(scope="module")
def fallback(calibrated):
    return Confidence.load(calibrated).fallback(UNKNOWN, 0.5)


@pytest.mark.parametrize("kind", ["ctranslate2", *map(slow, ("saved_model", "litert", "onnx"))])
def test_an_export_says_it_where_its_run_does(calibrated, fallback, tmp_path, kind):
    pytest.importorskip({"onnx": "tf2onnx", "ctranslate2": "ctranslate2"}.get(kind, "tensorflow"))
    path, xla = tmp_path / "out", {"xla": False} if kind == "saved_model" else {}
    about = export(calibrated, path, kind, fallback=UNKNOWN, refusals=0.5, **xla)
    assert about["verified"] == {"questions": 16, "equal": 16}
    expected = fallback.to_dict()
    assert json.loads((path / "export.json").read_text("utf-8"))["options"]["fallback"] == expected
    assert f"fallback  text {UNKNOWN}, refusals 0.5, least_score {fallback.least_score:.4g}, " in in_lines(about)
    assert in_lines(about).count(UNKNOWN) == 1
    bot = Chatbot.load(calibrated)
    own = [one for [one] in bot.n_best(QUESTIONS)]
    assert min(abs(score - fallback.least_score) for _, score in own) > 1e-3  # Else rounding would decide.
    found = [one for [one] in Exported(path).n_best(QUESTIONS)]
    said = bot.replies(QUESTIONS, fallback=fallback)
    assert 0 < said.count(UNKNOWN) < len(said)
    assert [answer for answer, _ in found] == said
    np.testing.assert_allclose([score for _, score in found], [score for _, score in own], 1e-3, 1e-4)


@pytest.mark.parametrize("kind", ["onnx", slow("litert")])
def test_with_it_a_run_that_retrieves_is_exported_to_generate(calibrated, tmp_path, kind):
    pytest.importorskip({"onnx": "tf2onnx"}.get(kind, "tensorflow"))
    run = shutil.copytree(calibrated, tmp_path / "run")
    Answering("retrieve").save(run)
    about = export(run, tmp_path / "out", kind, fallback=UNKNOWN, refusals=0.5)
    assert about["answers"] == {"by": "generate", "run": "retrieve"}
    assert not {"retrieval.py", "retrieval.npz", "exchanges.jsonl"} & set(about["files"])


@pytest.mark.slow  # Its graph is tested below.
def test_a_saved_model_tells_what_it_would_have_said_and_how_sure_it_is(calibrated, fallback, tmp_path):
    export(calibrated, tmp_path / "out", fallback=UNKNOWN, refusals=0.5, xla=False)
    signatures = tf.saved_model.load(str(tmp_path / "out")).signatures
    found = signatures["serving_default"](questions=tf.constant(QUESTIONS))
    own = [one for [one] in Chatbot.load(calibrated).n_best(QUESTIONS)]
    assert [text.decode() for text in found["candidates"].numpy()] == [answer for answer, _ in own]
    expected = fallback.confidence.of([score for _, score in own], Chatbot.load(calibrated).pieces(QUESTIONS))
    np.testing.assert_allclose(found["confidences"], expected, atol=1e-6)
    assert set(signatures["n_best"].structured_outputs) == {"answers", "scores"}


def test_a_run_folder_takes_its_calibration_with_it_unless_its_weights_are_rounded(calibrated, tmp_path):
    export(calibrated, tmp_path / "same", "run")
    assert Confidence.load(tmp_path / "same") == Confidence.load(calibrated)
    export(calibrated, tmp_path / "rounded", "run", quantization="int8")
    with pytest.raises(InputError, match="not calibrated"):
        Confidence.load(tmp_path / "rounded")
    with pytest.raises(InputError, match="an exported run folder cannot store a fallback: export it without"):
        export(calibrated, tmp_path / "out", "run", fallback=UNKNOWN)
    assert not (tmp_path / "out").exists()


def test_it_must_be_calibrated_for_the_answers_that_are_exported(calibrated, tmp_path):
    with pytest.raises(InputError, match=r"calibrated for greedy, .* not for beam, num_beams 2"):
        export(calibrated, tmp_path / "out", fallback=UNKNOWN, generation=GenerationConfig(Beam(2)))
    with pytest.raises(InputError, match="not for greedy, max_length 5"):
        export(calibrated, tmp_path / "out", fallback=UNKNOWN, generation=GenerationConfig(max_length=5))
    with pytest.raises(InputError, match="is too small for a calibration on 15 questions"):
        export(calibrated, tmp_path / "out", fallback=UNKNOWN)  # At a rate of 0.05.
    assert not (tmp_path / "out").exists()


def test_an_export_that_judges_otherwise_is_not_kept(calibrated, fallback):
    bot = Chatbot.load(calibrated)
    questions = questions_of(bot.tokenizer)
    said = list(zip(bot.replies(questions, fallback=fallback), [score for [(_, score)] in bot.n_best(questions)]))

    def candidates(asked):
        return [one for [one] in bot.n_best(asked)]

    check_fallback(fallback, bot, candidates, lambda asked: said)
    for wrong in (candidates(questions), [(UNKNOWN, score) for _, score in said], [("?", score) for _, score in said]):
        with pytest.raises(InputError, match="the export was discarded: it applies the fallback wrongly"):
            check_fallback(fallback, bot, candidates, lambda asked, wrong=wrong: wrong)


def test_judging_is_checked_before_an_export_is_kept(calibrated, tmp_path, monkeypatch):
    pytest.importorskip("ctranslate2")

    def refuse(*_):
        raise InputError("judged otherwise")

    monkeypatch.setattr(registry, "check_fallback", refuse)
    with pytest.raises(InputError, match="judged otherwise"):
        export(calibrated, tmp_path / "out", "ctranslate2", fallback=UNKNOWN, refusals=0.5)
    assert list(tmp_path.iterdir()) == []


def test_a_graph_judges_alike_at_the_bounds():
    """Scores are float32 and shares of characters float64, so that nothing is lost on the way into JSON and back."""
    at = np.float32(-1.1)
    below, above = np.nextafter(at, np.float32(-9)), np.nextafter(at, np.float32(0))
    fallback = Confidence(((float(at), 3 / 7),) * 50 + ((-0.5, 3 / 7),) * 49, {}, {}, "0").fallback(UNKNOWN, 0.3)
    cases = [
        ("가" * 7, 3, below),
        ("가" * 7, 3, at),
        ("e" * 7, 3, above),
        ("가" * 7, 4, at),
        ("나" * 9, 4, at),
        ("", -2, 0),
    ]
    questions, pieces, scores = zip(*cases)
    inputs = tf.sequence_mask([count + 2 for count in pieces], 9, tf.int32)
    answers = tf.constant(["답"] * len(cases))
    found = ServingModule(None, None, None, fallback).apply_fallback(
        tf.constant(questions), inputs, answers, tf.constant(scores)
    )
    refused = [True, False, False, True, True, False]
    assert [text.decode() for text in found["answers"].numpy()] == [UNKNOWN if no else "답" for no in refused]
    assert [fallback.refuses(float(s), n / max(1, len(q))) for q, n, s in cases] == refused
    own = [float(fallback.confidence.of(float(s), n / max(1, len(q)))) for q, n, s in cases]
    assert found["confidences"].numpy().tolist() == pytest.approx(own)
