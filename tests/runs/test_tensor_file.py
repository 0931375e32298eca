import contextlib

import numpy as np
import pytest
import safetensors.numpy

from keras_transformer import InputError
from keras_transformer.runs.tensor_file import load_tensors, save_tensors


def test_tensors_come_back_with_the_facts_about_them(tmp_path):
    tensors = {"a": np.arange(6, dtype="float32").reshape(2, 3), "무게": np.array(7, "int64"), "none": np.zeros((0, 2))}
    save_tensors(tmp_path / "t.safetensors", tensors, "id", {"rows": [1, "둘"]})
    loaded, about = load_tensors(tmp_path / "t.safetensors", "id")
    assert about == {"rows": [1, "둘"]}
    assert {name: value.tolist() for name, value in loaded.items()} == {
        "a": [[0, 1, 2], [3, 4, 5]], "무게": 7, "none": [],
    }  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint32", "bool"])
def test_the_file_is_of_the_safetensors_format(tmp_path, dtype):
    array = np.array([[1, 0], [3, 4], [5, 6]]).astype(dtype)
    tensors = {"array": array, "across": array.T}
    save_tensors(tmp_path / "t.safetensors", tensors, "id", {})
    loaded = safetensors.numpy.load_file(tmp_path / "t.safetensors")
    assert {value.dtype for value in loaded.values()} == {np.dtype(dtype)}
    for name, expected in {"array": array, "across": array.T}.items():
        np.testing.assert_array_equal(loaded[name], expected)


def test_every_damage_to_the_header_is_one_line(tmp_path):
    path = tmp_path / "t.safetensors"
    save_tensors(path, {"a": np.zeros(2)}, "id", {"step": 1})
    data = path.read_bytes()
    for place in range(8 + int.from_bytes(data[:8], "little")):
        for bit in (1, 4, 32):
            path.write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
            with contextlib.suppress(InputError):
                assert isinstance(load_tensors(path, "id")[1], dict)
