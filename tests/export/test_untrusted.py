"""Export folders from strangers: whatever is in them, opening them runs no program of theirs."""

import io
import json
import shutil

import keras
import pytest
import tensorflow as tf

from keras_transformer import InputError
from keras_transformer.cli.main import main
from keras_transformer.cli.serve import make_engine
from keras_transformer.export import FORMATS, litert
from keras_transformer.export.loader import open_bot
from keras_transformer.export.manifest import ABOUT, about_file, read_about, write_about

FOLDERS = [  # But for HTML, which the package does not open.
    pytest.param(kind, marks=pytest.mark.slow if kind in ("saved_model", "litert", "onnx") else ())
    for kind in FORMATS
    if kind != "html"
]

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="TensorFlow makes these exports"),
]


@pytest.fixture
def planted(tmp_path):
    """The file that a planted program would write."""
    return tmp_path / "planted"


@pytest.fixture
def program(planted):
    """A program that writes `planted`."""
    return f"import pathlib; pathlib.Path({str(planted)!r}).touch()\n".encode()


def edit(folder, **changes):
    """Edits export.json so that it fits the files, with some changes."""
    about = json.loads((folder / ABOUT).read_text("utf-8"))
    about["files"] = {path.name: about_file(path) for path in folder.iterdir() if path.is_file() and path.name != ABOUT}
    write_about(folder, {**about, **changes})


def opens(folder):
    """Whether a folder can be opened. If it cannot, that is an error in one line."""
    try:
        open_bot(folder)
    except InputError as error:
        assert "\n" not in str(error)
        return False
    return True


@pytest.mark.parametrize("kind", FOLDERS)
def test_a_program_in_the_place_of_any_file_is_not_run(hybrid_export, tmp_path, planted, program, kind):
    folder = shutil.copytree(hybrid_export(kind), tmp_path / "folder")
    names = sorted(read_about(folder)["files"])
    assert len(names) >= 4
    opened = []
    for name in names:
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(program)
        edit(folder)
        opened += [name] if opens(folder) else []
        assert not planted.exists(), name
        (folder / name).write_bytes(before)
    programs = {name for name in names if name.endswith((".py", ".md"))}
    assert programs <= set(opened)
    assert len(opened) < len(names)


@pytest.mark.parametrize("kind", FOLDERS)
def test_programs_in_an_export_are_not_run_whatever_opens_it(
    hybrid_export, tmp_path, planted, program, kind, monkeypatch
):
    folder = shutil.copytree(hybrid_export(kind), tmp_path / "folder")
    for name in ("answer.py", "retrieval.py", "sitecustomize.py", "keras_transformer.py", "numpy.py", "config.pkl"):
        (folder / name).write_bytes(program)
    edit(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"hello\n")))
    assert main(["info", "."]) == 0
    main(["answer", "."])
    make_engine(folder)
    for other in FORMATS:  # As if it were of another format.
        edit(folder, kind=other)
        opens(folder)
    assert not planted.exists()


def test_a_lite_model_with_operations_of_tensorflow_is_not_run(hybrid_export, tmp_path, planted):
    def answer(ids):
        with tf.control_dependencies([tf.raw_ops.WriteFile(filename=str(planted), contents="")]):
            return {"ids": tf.identity(ids)[:, 1:], "scores": tf.zeros(1)}

    module, length = tf.Module(), 24
    module.answer = tf.function(answer, [tf.TensorSpec((1, length), tf.int32, "ids")], autograph=False)
    tf.saved_model.save(module, str(tmp_path / "model"), module.answer)
    converter = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path / "model"))
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
    folder = shutil.copytree(hybrid_export("litert"), tmp_path / "folder")
    (folder / litert.MODEL).write_bytes(converter.convert())
    edit(folder)
    with pytest.raises((InputError, RuntimeError)):
        open_bot(folder).replies(["an unknown question"])
    assert not planted.exists()
