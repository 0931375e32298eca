import importlib.metadata
import json
import re
import shlex
import shutil
import types

import pytest

from keras_transformer import Chatbot, InputError, export_hugging_face
from keras_transformer.chat.datastore import FILES
from keras_transformer.cli.info import about_folder
from keras_transformer.export.hugging_face import CARD, load
from keras_transformer.export.model_card import (
    exchanges_in_words,
    licence_in_words,
    metadata,
    pairs_in_words,
    settings,
    yaml,
)
from keras_transformer.runs.run import Run

pytestmark = pytest.mark.heavy

CODE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(small_run, tmp_path_factory):
    path = tmp_path_factory.mktemp("hf") / "out"
    export_hugging_face(small_run, path)
    return path


@pytest.fixture(scope="module")
def card(folder):
    return (folder / CARD).read_text("utf-8")


def metadata_of(card):
    yaml_of_python = pytest.importorskip("yaml")
    _before, front, _text = card.split("---\n", 2)
    return yaml_of_python.safe_load(front)


def test_it_is_a_run_folder_with_a_card_and_answers_as_the_run(folder, bot, assert_answers_as):
    assert_answers_as(load(folder), bot, ["안녕하세요", "hello", "고마워", ""])
    about = about_folder(folder)
    assert (about["kind"], about["verified"]) == ("hf", {"questions": 16, "equal": 16})
    assert {*about["files"]} | {"README.md", "export.json"} == {path.name for path in folder.iterdir()}
    assert "weights.safetensors" in about["files"] and "README.md" not in about["files"]


def test_the_metadata_says_what_is_known_and_invents_nothing(card):
    metadata = metadata_of(card)
    assert metadata["library_name"] == "keras" and metadata["pipeline_tag"] == "text2text-generation"
    assert not {"license", "language", "datasets"} & {*metadata}  # Nobody has said which.
    assert "\n# Fill in the license of this folder, such as license: mit\n---\n" in card
    [model] = metadata["model-index"]
    [result] = model["results"]
    assert (model["name"], result["task"]) == ("run", {"type": "text2text-generation"})
    assert result["dataset"] == {"name": "pairs", "type": "pairs", "split": "validation"}


def test_the_scores_are_those_of_the_run(card, small_run):
    [result] = metadata_of(card)["model-index"][0]["results"]
    scores, summary = {one["type"]: one["value"] for one in result["metrics"]}, Run(small_run).summary()
    assert scores.keys() == {"perplexity", "accuracy", "bits_per_char"}
    assert scores["perplexity"] == pytest.approx(summary["val_perplexity"], abs=1e-4)
    assert scores["bits_per_char"] == pytest.approx(summary["val_bits_per_char"], abs=1e-4)


def test_the_library_of_the_hub_reads_the_metadata(folder):
    hub = pytest.importorskip("huggingface_hub")
    data = hub.ModelCard.load(folder / CARD).data
    assert (data.library_name, data.pipeline_tag, data.model_name) == ("keras", "text2text-generation", "run")
    assert {one.metric_type for one in data.eval_results} == {"perplexity", "accuracy", "bits_per_char"}


def test_the_card_tells_what_the_folder_holds_and_who_can_read_it(card, small_run):
    assert "**This folder contains the training data**: `datastore.jsonl` holds " in card
    assert "**`transformers` cannot load this folder**" in card
    assert f"| vocabulary | {Run(small_run).tokenizer.vocab_size} pieces |" in card
    assert f"| parameters | {Run(small_run).build_model().count_params():,} |" in card
    assert "| weights | float32 in `weights.safetensors` |" in card
    assert "label_smoothing = 0.0" in card and "$" not in card


@pytest.mark.slow  # Starts a program.
def test_every_shown_line_runs(card, folder, tmp_path, monkeypatch, call, capsys):
    shutil.copytree(folder, tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    install, commands, python, _settings = (text.splitlines() for _language, text in CODE.findall(card))
    [name] = [line.removeprefix("pip install ") for line in install]
    assert importlib.metadata.metadata(name)["Name"] == name
    assert len(commands) == 3
    for line in commands:
        asked, _, command = line.rpartition(" | ")
        result = call(*shlex.split(command)[1:], stdin=" ".join(shlex.split(asked)[1:]).encode() or b"hello\n")
        assert result.returncode == 0, result.stderr
        assert "Hi there!" in result.stdout or "export" in line
    exec("\n".join(python), {})
    assert capsys.readouterr().out == "Hi there!\n"


def test_the_settings_train_again(card, tmp_path):
    from keras_transformer.config import Config
    from keras_transformer.config_file import read_config_file

    [settings] = [text for language, text in CODE.findall(card) if language == "toml"]
    (tmp_path / "config.toml").write_text(settings, "utf-8")
    settings, rest = read_config_file(tmp_path / "config.toml")
    assert settings.keys() == Config().to_dict().keys() and not rest


def test_commands_that_take_an_export_take_it(folder, call):
    assert call("info", folder).stdout.startswith("kind      hf, ")
    assert call("answer", folder, stdin=b"hello\n").stdout == "Hi there!\n"
    assert call("chat", folder, stdin=b"hello\n").stdout == "Hi there!\n"


def test_the_card_may_be_edited_but_nothing_else(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / CARD).write_text("---\nlicense: mit\n---\n", "utf-8")
    assert about_folder(copy)["kind"] == "hf"
    (copy / "summary.json").write_text("{}", "utf-8")
    with pytest.raises(InputError, match=r"summary\.json: damaged, or changed since it was written"):
        about_folder(copy)


def test_what_the_catalog_knows_is_in_the_metadata(small_run):
    run = Run(small_run)
    run.corpus = {
        **run.corpus,
        "name": "small_talk",
        "language": "ko, en",
        "licence": "CC0 1.0",
        "validation": 1,
        "pairs": 1,
    }
    known = metadata_of(f"---\n{metadata(run, 'run')}\n---\n")
    assert (known["language"], known["license"]) == (["ko", "en"], "cc0-1.0")
    assert known["model-index"][0]["results"][0]["dataset"] == {
        "name": "small_talk",
        "type": "small_talk",
        "split": "train",
    }
    run.corpus |= {"language": "en-de", "licence": "non-commercial"}
    known = metadata_of(f"---\n{metadata(run, 'run')}\n---\n")
    assert known["language"] == ["en", "de"]
    assert (known["license"], known["license_name"]) == ("other", "non-commercial")
    run.corpus |= {"licence": "not stated"}
    assert "license" not in metadata_of(f"---\n{metadata(run, 'run')}\n---\n")
    assert licence_in_words({"licence": "not stated"}) == licence_in_words({}) == "not known"


def test_a_korean_run_has_a_korean_card(small_run, tmp_path):
    run_dir = shutil.copytree(small_run, tmp_path / "한국어")
    config = json.loads((run_dir / "config.json").read_text("utf-8"))
    config["corpus"] |= {"language": "ko"}
    (run_dir / "config.json").write_text(json.dumps(config), "utf-8")
    for name in (*FILES, "checksums.json"):
        (run_dir / name).unlink(missing_ok=True)
    export_hugging_face(run_dir, tmp_path / "out", quantization="int8")
    card = (tmp_path / "out" / CARD).read_text("utf-8")
    assert 'language:\n  - "ko"\n' in card
    assert "# 이 폴더의 라이선스를 적으세요" in card and "**`transformers`로는 이 폴더를 불러올 수 없습니다.**" in card
    assert "이 폴더에는 학습 데이터가 들어 있지 않습니다." in card
    assert "`weights.safetensors`의 int8" in card
    assert Chatbot.load(tmp_path / "out").reply("hello") == "Hi there!"


def test_what_was_held_out_is_told():
    sizes = {"pairs": 1200, "train": 1100, "validation": 100, "test": 0}
    assert pairs_in_words(sizes) == "1,200 (train 1,100, validation 100)"
    assert pairs_in_words({"pairs": 24, "train": 24, "validation": 24, "test": 0}) == "24 (train 24)"


def test_of_a_fine_tuned_run_the_name_of_its_parent_is_told(small_run):
    run = Run(small_run)
    run.origin = {"id": "1", "path": "/home/somebody/runs/first"}
    assert settings(run).startswith('from = "first"\nvocab_size = 420\n')


def test_answers_taught_later_are_training_data_too():
    run = types.SimpleNamespace(corpus={"corrections": [{"question": "a", "answer": "b"}]})
    assert exchanges_in_words(run, 0) == (
        "This folder contains no training data but the answers taught later, in `config.json`."
    )
    assert exchanges_in_words(types.SimpleNamespace(corpus={}), 0) == "This folder does not contain the training data."


def test_any_text_is_a_value_of_yaml():
    yaml_of_python = pytest.importorskip("yaml")
    value = {"name": 'a: "b" # \\ 한 😀', "list": ["no", {"x": 1.5, "y": ["- z"]}, [["deep"]]]}
    assert yaml_of_python.safe_load("\n".join(yaml(value))) == value
