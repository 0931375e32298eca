"""The files of every format give the arrays in the order of the model's layers."""

import itertools
import shutil
import zipfile

import h5py
import numpy as np
import pytest
import tensorflow as tf

from keras_transformer import InputError
from keras_transformer.migration.tutorial_weights import layers_of
from keras_transformer.migration.weight_files import read_arrays

CHILDREN = {"query": "query_dense", "key": "key_dense", "value": "value_dense", "output": "dense"}


def same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


def components(layer, name):
    """The layers of a variable and its name: "layer_0/norm_1/gamma:0" -> ["encoder", "layer_0", "norm_1", "gamma"]."""
    path = name.removesuffix(":0").split("/")
    return path if path[0] == layer else [layer, *path]


def checkpoint_names(layers):
    """The arrays by their names in a checkpoint, where every model numbers those of its layers that have weights."""
    numbers, names = {}, {}
    for layer, arrays in layers.items():
        for name, array in arrays:
            *path, variable = components(layer, name)
            child = [CHILDREN[path.pop()]] if path[-1] in CHILDREN else []
            for depth, one in enumerate(path):
                siblings = numbers.setdefault(tuple(path[:depth]), {})
                siblings.setdefault(one, f"layer_with_weights-{len(siblings)}")
            path = [numbers[tuple(path[:depth])][one] for depth, one in enumerate(path)]
            names["/".join([*path, *child, variable])] = array
    return names


def tracked(names):
    """An object whose checkpoint has the arrays under the names."""
    objects = {}
    for name, array in names.items():
        first, _, rest = name.partition("/")
        objects.setdefault(first, {})[rest] = array
    inside = {name: tf.Variable(one[""]) if "" in one else tracked(one) for name, one in objects.items()}
    return tf.train.Checkpoint(**inside)


def test_hdf5_of_weights(weights_file, arrays):
    same(read_arrays(weights_file), arrays)


def test_hdf5_of_a_whole_model_with_its_optimizer(tmp_path, layers, arrays, write_hdf5):
    write_hdf5(tmp_path / "model.h5", layers, "model_weights")
    with h5py.File(tmp_path / "model.h5", "a") as file:
        file["optimizer_weights/adam/iter:0"] = 5
        file["optimizer_weights/adam/m/kernel:0"] = np.ones((4, 4), "float32")
    same(read_arrays(tmp_path / "model.h5"), arrays)


@pytest.mark.parametrize("name", ["cp", "cp.index", "cp.data-00000-of-00001", "."])
def test_a_checkpoint_by_its_prefix_its_files_or_its_folder(tmp_path, layers, arrays, name):
    tracked(checkpoint_names(layers)).write(tmp_path / "cp")
    same(read_arrays(tmp_path / name), arrays)


def test_a_checkpoint_of_a_model_with_its_optimizer(tmp_path, layers, arrays):
    names = {f"model/{name}": array for name, array in checkpoint_names(layers).items()}
    tracked(names | {"optimizer/_variables/1": arrays[0]}).save(tmp_path / "cp")
    same(read_arrays(tmp_path / "cp-1"), arrays)


def test_of_a_saved_model_only_the_variables_are_read(tmp_path, layers, arrays):
    names = [f"variables/{number}" for number in range(len(arrays) - 2)]
    names += ["layer_with_weights-2/kernel", "layer_with_weights-2/bias"]  # Of the layer outputs.
    (tmp_path / "saved/variables").mkdir(parents=True)
    (tmp_path / "saved/saved_model.pb").write_bytes(b"a program")
    others = {"keras_api/metrics/0/total": np.ones((), "float32")}
    tracked(dict(zip(names, arrays)) | others).write(tmp_path / "saved/variables/variables")
    same(read_arrays(tmp_path / "saved"), arrays)


KERAS_3 = {"attention": "multi_head_attention", "norm": "layer_normalization", "layer": "functional"}


@pytest.fixture
def keras_3_weights(layers, tmp_path):
    """What Keras 3 saves: layers by class and number, in the order of the alphabet, and variables by number."""
    path = tmp_path / "chatbot.weights.h5"
    with h5py.File(path, "w") as file:
        for layer, arrays in layers.items():
            for name, array in arrays:
                *inner, variable = components(layer, name)
                where = {"encoder": ["functional"], "decoder": ["functional_1"], "outputs": ["dense"]}[inner[0]]
                for one in inner[1:]:
                    kind, _, number = one.partition("_")
                    numbered = KERAS_3.get(kind, kind) + (f"_{number}" if number.strip("0") else "")
                    where.append(CHILDREN.get(one, numbered))
                file["/".join(["layers", *where, "vars", str(int(variable in ("bias", "beta")))])] = array
        file["optimizer/vars/1"] = np.ones((4, 4), "float32")
        file["metrics/mean/vars/0"] = np.ones((), "float32")
        file["layers/dropout/seed_generator/vars/0"] = np.ones(2, "uint32")
    return path


@pytest.mark.parametrize("name", ["chatbot.weights.h5", "chatbot.keras"])
def test_files_of_keras_3(keras_3_weights, tmp_path, layers, arrays, name):
    with zipfile.ZipFile(tmp_path / "chatbot.keras", "w") as archive:
        archive.write(keras_3_weights, "model.weights.h5")
    found, expected = layers_of(read_arrays(tmp_path / name)), layers_of(arrays)
    same(found.embeddings, expected.embeddings)
    for kind in ("dense", "norms"):
        same([*itertools.chain(*getattr(found, kind))], [*itertools.chain(*getattr(expected, kind))])


# What cannot be read


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.h5: there is no such file"):
        read_arrays(tmp_path / "none.h5")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89HDF", b"PK\x03\x04"])
def test_a_file_of_another_format_or_a_damaged_one(tmp_path, content):
    (tmp_path / "odd.h5").write_bytes(content)
    with pytest.raises(InputError, match=r"odd\.h5: (neither HDF5|damaged)"):
        read_arrays(tmp_path / "odd.h5")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_cut_hdf5_file(weights_file, share):
    data = weights_file.read_bytes()
    weights_file.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(InputError, match=r"chatbot\.h5: damaged: "):
        read_arrays(weights_file)


def test_an_hdf5_file_whose_arrays_are_elsewhere(weights_file, tmp_path):
    """Such a file from a stranger would have any file of the machine read as numbers."""
    (tmp_path / "secret").write_bytes(bytes(16))
    with h5py.File(weights_file, "a") as file:
        del file["outputs/outputs/bias:0"]
        file["outputs"].create_dataset("outputs/bias:0", (4,), "float32", external=[(tmp_path / "secret", 0, 16)])
    with pytest.raises(InputError, match=r"chatbot\.h5: damaged: its data is incomplete"):
        read_arrays(weights_file)


def test_an_hdf5_file_with_links_to_other_files(weights_file, tmp_path):
    shutil.copy(weights_file, tmp_path / "other.h5")
    with h5py.File(weights_file, "a") as file:
        del file["encoder"]
        file["encoder"] = h5py.ExternalLink("other.h5", "encoder")
    with pytest.raises(InputError, match=r"chatbot\.h5: damaged: "):
        read_arrays(weights_file)


@pytest.mark.parametrize("ending", [".index", ".data-00000-of-00001"])
def test_a_cut_checkpoint(tmp_path, layers, ending):
    tracked(checkpoint_names(layers)).write(tmp_path / "cp")
    path = tmp_path / f"cp{ending}"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match="cp: damaged: "):
        read_arrays(tmp_path / "cp")


def test_a_folder_of_several_checkpoints_names_them(tmp_path):
    for name in ("cp-1", "cp-2"):
        tracked({"a": np.ones(2, "float32")}).write(tmp_path / name)
    with pytest.raises(InputError, match="several checkpoints: name one of cp-1, cp-2"):
        read_arrays(tmp_path)


def test_weights_that_diverged(weights_file):
    with h5py.File(weights_file, "a") as file:
        file["outputs/outputs/bias:0"][3] = np.nan
    with pytest.raises(InputError, match="NaN"):
        read_arrays(weights_file)
