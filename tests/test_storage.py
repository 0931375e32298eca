import numpy as np
import pytest

from keras_transformer.storage import load_tensors, save_tensors, write_atomically


def test_tensors_come_back_with_the_facts_about_them(tmp_path):
    tensors = {"a": np.arange(6, dtype="float32").reshape(2, 3), "무게": np.array(7, "int64")}
    save_tensors(tmp_path / "t.safetensors", tensors, "id", {"rows": [1, "둘"]})
    loaded, about = load_tensors(tmp_path / "t.safetensors", "id")
    assert about == {"rows": [1, "둘"]}
    assert {name: value.tolist() for name, value in loaded.items()} == {"a": [[0, 1, 2], [3, 4, 5]], "무게": 7}


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    file = tmp_path / "file"
    write_atomically(file, b"old")
    with pytest.raises(TypeError):
        write_atomically(file, "no bytes")
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
