"""What `info` says about damaged folders."""

import argparse
import json

import pytest

from keras_transformer import Config, InputError, Run, Tokenizer
from keras_transformer.cli.info import run_info


@pytest.fixture
def path(tmp_path):
    Run.create(tmp_path / "run", Config(), Tokenizer.train(["가나다 abc"], 400), {"name": "none", "pairs": 3})
    return tmp_path / "run"


def info(path, as_json=False):
    return run_info(argparse.Namespace(path=str(path), json=as_json))


def test_a_run_without_a_finished_epoch_is_described(path, capsys):
    assert info(path) == 0
    assert "corpus    none, 3 pairs, licence not known\ntraining  not finished yet\n" in capsys.readouterr().out


@pytest.mark.parametrize("corpus", [{}, {"name": "none", "pairs": "x"}, {"name": "none", "pairs": [1]}])
def test_a_corpus_of_another_shape_is_named(path, corpus):
    (path / "checksums.json").unlink(missing_ok=True)
    about = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**about, "corpus": corpus}))
    with pytest.raises(InputError, match="run: damaged: "):
        info(path)


@pytest.mark.parametrize(
    "about",
    [
        "[" * 100_000, "5", "[]", "{}", '{"format": 1, "files": {}}', '{"format": 1, "files": {}, "kind": "onnx"}',
        '{"format": 1, "files": {}, "kind": ["onnx"], "run": 5, "corpus": []}', '{"format": 1, "files": {"a": 5}}',
        '{"format": 1, "files": {}, "kind": "onnx", "run": {"config": {}, "training": 5}, "corpus": {}}',
    ],
)  # fmt: skip
def test_an_export_of_another_shape_is_named(tmp_path, about):
    (tmp_path / "export.json").write_text(about)
    with pytest.raises(InputError, match=r"damaged|has format|missing"):
        info(tmp_path)
