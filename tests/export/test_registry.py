import pytest

from keras_transformer import Beam, InputError
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
    assert in_json({"strategy": Beam(3), "n_best": 2}) == {
        "strategy": {"kind": "beam", "num_beams": 3, "length_penalty": 0.6},
        "n_best": 2,
    }


def test_a_folder_that_is_no_run_is_not_exported(tmp_path):
    with pytest.raises(InputError, match="there is no such run folder"):
        export(tmp_path / "missing", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
