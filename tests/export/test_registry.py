import inspect

import pytest

from keras_transformer import Beam, GenerationConfig, InputError, export_saved_model
from keras_transformer.export import EXACT, FORMATS, QUANTIZATIONS
from keras_transformer.export.exporter import Exporter
from keras_transformer.export.registry import export, exporter_of, in_json


def arguments_of(function):
    """The arguments of a function or method and their defaults, in order, and whether it takes others by name."""
    parameters = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
    named = {one.name: one.default for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD}
    return named, any(one.kind is one.VAR_KEYWORD for one in parameters)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_has_the_members_of_the_protocol(kind):
    exporter = exporter_of(kind)
    assert EXACT in exporter.QUANTIZATIONS and set(exporter.QUANTIZATIONS) <= set(QUANTIZATIONS)
    assert isinstance(exporter.OPTIONS, tuple) and isinstance(exporter.IS_RUN_FOLDER, bool)
    assert exporter.FILE is None or exporter.FILE.endswith(".html")
    assert {name for name in (*vars(Exporter), *Exporter.__annotations__) if not name.startswith("_")} == {
        "QUANTIZATIONS", "OPTIONS", "IS_RUN_FOLDER", "EDITABLE", "FILE", "write", "load",
    }  # fmt: skip


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_takes_the_arguments_of_the_protocol_and_its_own_options(kind):
    exporter = exporter_of(kind)
    assert arguments_of(exporter.load) == arguments_of(Exporter.load)
    common, _ = arguments_of(Exporter.write)
    arguments, takes_others = arguments_of(exporter.write)
    assert list(arguments.items())[: len(common)] == list(common.items())
    own = [name for name in arguments if name not in common]
    assert tuple(own) == exporter.OPTIONS
    assert not takes_others
    assert inspect.Parameter.empty not in [arguments[name] for name in own]


def test_an_unknown_format_is_named_beside_those_there_are(small_run, tmp_path):
    with pytest.raises(
        InputError, match="unknown export format 'gguf': use one of saved_model, litert, onnx, ctranslate2, html, run"
    ):
        export(small_run, tmp_path / "out", "gguf")


def test_a_strategy_is_written_down_with_its_settings():
    beam = {"kind": "beam", "num_beams": 3, "length_penalty": 0.6}
    assert in_json({"generation": GenerationConfig(Beam(3), num_return=2), "n_best": 2}) == {
        "strategy": beam, "n_best": 2,
    }  # fmt: skip
    generation = GenerationConfig(Beam(3), max_length=9, required=["꿈"])
    assert in_json({"generation": generation}) == {"strategy": beam, "max_length": 9, "required": ["꿈"]}
    generation = GenerationConfig(max_length=9, min_length=2, forbidden_ids=[7], forbidden=["꿈"])
    assert in_json({"generation": generation}) == {
        "strategy": {"kind": "greedy"}, "max_length": 9, "min_length": 2, "forbidden_ids": [7], "forbidden": ["꿈"],
    }  # fmt: skip


def test_decoding_settings_of_a_saved_model_stand_beside_no_generation(tmp_path):
    with pytest.raises(InputError, match="generation and other decoding settings are both given: put all into"):
        export_saved_model("run", tmp_path / "out", min_length=2, generation=GenerationConfig())


def test_a_folder_that_is_no_run_is_not_exported(tmp_path):
    with pytest.raises(InputError, match="there is no such run folder"):
        export(tmp_path / "missing", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
