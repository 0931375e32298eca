import json
import shutil

import pytest

from keras_transformer import Chatbot, InputError, Run, export_run
from keras_transformer.chat.answering import Answering
from keras_transformer.cli.info import about_folder
from keras_transformer.export.run_folder import load

pytestmark = pytest.mark.heavy

QUESTIONS = ["안녕하세요", "hello", "고마워", "처음 듣는 말", ""]


def test_it_answers_as_the_run_and_holds_nothing_of_its_training(small_run, tmp_path, bot, assert_answers_as):
    about = export_run(small_run, tmp_path / "out")
    assert_answers_as(load(tmp_path / "out"), bot, QUESTIONS)
    assert set(about["files"]) == {
        "answering.json", "config.json", "datastore.jsonl", "datastore.safetensors", "summary.json", "tokenizer.model",
        "weights.safetensors",
    }  # fmt: skip
    assert about["verified"] == {"questions": 16, "equal": 16}
    assert Run(tmp_path / "out").id == Run(small_run).id


def test_paths_of_the_machine_that_trained_stay_there(small_run, tmp_path):
    export_run(small_run, tmp_path / "out")
    assert "source" in json.loads((small_run / "config.json").read_text("utf-8"))["corpus"]
    assert "source" not in json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))["corpus"]


def test_of_the_parent_run_only_the_name_is_told(small_run, tmp_path):
    run = shutil.copytree(small_run, tmp_path / "run")
    config = json.loads((run / "config.json").read_text("utf-8"))
    (run / "config.json").write_text(json.dumps({**config, "from": {"id": "1", "path": "/home/somebody/runs/first"}}))
    (run / "checksums.json").unlink()
    export_run(run, tmp_path / "out")
    assert Run(tmp_path / "out").origin == {"id": "1", "path": "first"}


@pytest.mark.parametrize("quantization", ["float32", "int8"])
def test_it_retrieves_and_was_taught_as_the_run(small_run, tmp_path, quantization):
    shutil.copytree(small_run, tmp_path / "run")
    Answering("retrieve").save(tmp_path / "run")
    run = Chatbot.load(tmp_path / "run")
    run.datastore.teach("hello", "Howdy!")
    about = export_run(tmp_path / "run", tmp_path / "out", quantization=quantization)
    assert about["verified"]["equal"] == 16
    assert "answers" not in about
    found = load(tmp_path / "out")
    assert found(["잘 자", "hello", ""])[:2] == [("좋은 꿈 꾸세요.", None), ("Howdy!", None)]
    Chatbot.load(tmp_path / "out").datastore.forget("hello")  # Its own corrections may change.
    assert about_folder(tmp_path / "out")["answering"]["taught"] == 0
    assert run.reply("hello") == "Howdy!"


def test_eight_bits_are_a_quarter_of_the_size(small_run, tmp_path):
    whole, rounded = (
        export_run(small_run, tmp_path / name, quantization=name)["files"]["weights.safetensors"]["bytes"]
        for name in ("float32", "int8")
    )
    assert rounded < 0.45 * whole  # Vectors, which are not rounded, are many in so small a model.
    assert Chatbot.load(tmp_path / "int8").reply("hello") == "Hi there!"


def test_other_types_are_refused(small_run, tmp_path):
    with pytest.raises(InputError, match="does not support bfloat16 weights: use float32 or int8"):
        export_run(small_run, tmp_path / "out", quantization="bfloat16")
