import pytest

from keras_transformer import Beam, GenerationConfig, InputError, export_saved_model
from keras_transformer.export import FORMATS
from keras_transformer.export.registry import export, in_json, module_of


def test_every_format_can_be_written_and_reopened():
    for kind in FORMATS:
        module = module_of(kind)
        assert callable(module.write)
        assert callable(module.load)


def test_an_unknown_format_is_named_beside_those_there_are(small_run, tmp_path):
    with pytest.raises(
        InputError, match="unknown export format 'gguf': use one of saved_model, litert, onnx, ctranslate2, run"
    ):
        export(small_run, tmp_path / "out", "gguf")


def test_a_strategy_is_written_down_with_its_settings():
    beam = {"kind": "beam", "num_beams": 3, "length_penalty": 0.6}
    assert in_json({"generation": GenerationConfig(Beam(3), num_return=2), "n_best": 2}) == {
        "strategy": beam, "n_best": 2,
    }  # fmt: skip
    generation = GenerationConfig(max_length=9, min_length=2, forbidden_ids=[7])
    assert in_json({"generation": generation}) == {
        "strategy": {"kind": "greedy"}, "max_length": 9, "min_length": 2, "forbidden_ids": [7],
    }  # fmt: skip


def test_decoding_settings_of_a_saved_model_stand_beside_no_generation(tmp_path):
    with pytest.raises(InputError, match="generation and other decoding settings are both given: put all into"):
        export_saved_model("run", tmp_path / "out", min_length=2, generation=GenerationConfig())


def test_a_folder_that_is_no_run_is_not_exported(tmp_path):
    with pytest.raises(InputError, match="there is no such run folder"):
        export(tmp_path / "missing", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
