"""A run of a tutorial's weights computes the tutorial's logits, whatever its version differs in."""

import os

import h5py
import numpy as np
import pytest

from keras_transformer import Chatbot, InputError, Run, Tokenizer
from keras_transformer.migration.run_folder import import_tutorial

QUESTION, ANSWER = [267, 1, 2, 9, 268], [267, 3, 40, 9]  # The start is 267, the end 268.
VERSIONS = {"wikidocs": {}, "blog": {"concatenated": True}, "github": {"concatenated": True, "twice": True}}


def logits_of(run_dir, question, answer):
    model = Run(run_dir).load_model()
    return np.asarray(model([np.array([question]), np.array([answer])]))[0]


@pytest.mark.parametrize("tutorial", VERSIONS)
def test_the_logits_are_those_of_the_tutorial(tutorial, weights_file, subwords, tutorial_logits, tmp_path):
    import_tutorial(weights_file, subwords, tmp_path / "run", tutorial, num_heads=2)
    expected = {name: tutorial_logits(QUESTION, ANSWER, **options) for name, options in VERSIONS.items()}
    found = logits_of(tmp_path / "run", QUESTION, ANSWER)
    np.testing.assert_allclose(found, expected.pop(tutorial), atol=1e-5)
    for other in expected.values():
        assert abs(found - other).max() > 0.1


def test_the_number_of_heads_is_the_tutorials_unless_it_is_given(weights_file, subwords, tutorial_logits, tmp_path):
    found = import_tutorial(weights_file, subwords, tmp_path / "run", "wikidocs")
    assert (found.sizes.num_heads, found.heads_assumed) == (8, True)
    expected = tutorial_logits(QUESTION, ANSWER, num_heads=8)
    np.testing.assert_allclose(logits_of(tmp_path / "run", QUESTION, ANSWER), expected, atol=1e-5)


def test_the_kernels_of_keras_own_attention_show_the_number_of_heads(
    layers, subwords, tutorial_logits, tmp_path, write_hdf5
):
    def fused(name, array):
        part, variable = name.split("/")[-2:]
        if part == "output" and variable == "kernel:0":
            return array.reshape(2, 4, 8)
        if part in ("query", "key", "value"):
            return array.reshape(*array.shape[:-1], 2, 4)
        return array

    fused_layers = {layer: [(name, fused(name, array)) for name, array in arrays] for layer, arrays in layers.items()}
    write_hdf5(tmp_path / "fused.h5", fused_layers)
    found = import_tutorial(tmp_path / "fused.h5", subwords, tmp_path / "run", "wikidocs")
    assert (found.sizes.num_heads, found.heads_assumed) == (2, False)
    expected = tutorial_logits(QUESTION, ANSWER)
    np.testing.assert_allclose(logits_of(tmp_path / "run", QUESTION, ANSWER), expected, atol=1e-5)
    with pytest.raises(InputError, match=r"fused\.h5: has 2 attention heads, not 4"):
        import_tutorial(tmp_path / "fused.h5", subwords, tmp_path / "other", "wikidocs", num_heads=4)


@pytest.mark.parametrize("preprocessing, ids", [(None, [267, 3, 9, 268]), ("none", [267, 3, 1 + 10 + ord("!"), 268])])
def test_the_chatbot_preprocesses_questions_as_the_tutorial(weights_file, subwords, tmp_path, preprocessing, ids):
    import_tutorial(weights_file, subwords, tmp_path / "run", "wikidocs", preprocessing)
    assert Chatbot.load(tmp_path / "run").ids_of(["반가워요!"]) == [ids]


def test_the_lengths_are_those_of_the_tutorial(weights_file, subwords, tmp_path):
    """It generates up to MAX_LENGTH tokens after the start."""
    import_tutorial(weights_file, subwords, tmp_path / "run", "wikidocs", max_length=30)
    bot = Chatbot.load(tmp_path / "run")
    assert bot.config_of(None).max_length == 30
    assert len(bot.ids_of(["x" * 100])[0]) == 31


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_a_name_of_other_bytes_is_escaped(weights_file, subwords, tmp_path):
    odd = weights_file.rename(tmp_path / os.fsdecode(b"\xff\x1b.h5"))
    import_tutorial(odd, subwords, tmp_path / "run", "wikidocs")
    assert Run(tmp_path / "run").corpus["name"] == r"imported from \udcff\u001b.h5 (tutorial wikidocs)"


# What cannot be imported


def refused(tmp_path, match, weights, tokenizer, **options):
    with pytest.raises(InputError, match=match):
        import_tutorial(weights, tokenizer, tmp_path / "run", "wikidocs", **options)
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith("part") or path.name == "run"]


def test_a_vocabulary_of_other_weights(weights_file, subwords, tmp_path):
    (tmp_path / "other.subwords").write_bytes(subwords.read_bytes() + b"'more'\n")
    match = r"chatbot\.h5: is of 269 token ids, but .*other\.subwords has 270"
    refused(tmp_path, match, weights_file, tmp_path / "other.subwords")


def test_a_sentencepiece_model(weights_file, tmp_path):
    Tokenizer.train(["가나다 abc"], 400).save(tmp_path / "some.model")
    refused(tmp_path, r"some\.model: a SentencePiece model", weights_file, tmp_path / "some.model")


def test_another_architecture(layers, subwords, tmp_path, write_hdf5):
    write_hdf5(tmp_path / "encoder.h5", {"encoder": layers["encoder"]})
    match = r"encoder\.h5: not the Transformer of the tutorial: found 1 embeddings, 12 dense layers and 4 layer norm"
    refused(tmp_path, match, tmp_path / "encoder.h5", subwords)


def test_weights_of_another_shape(weights_file, subwords, tmp_path):
    with h5py.File(weights_file, "a") as file:
        name = "decoder/layer_1/dense/kernel:0"
        value = file[name][()]
        del file[name]
        file[name] = value.reshape(12, 8)
    refused(tmp_path, "not the Transformer of the tutorial: ", weights_file, subwords)


def test_heads_that_do_not_divide_the_width(weights_file, subwords, tmp_path):
    refused(tmp_path, "d_model 8 cannot be split into 3 equal heads", weights_file, subwords, num_heads=3)
    refused(tmp_path, "num_heads must be a whole number of at least 1", weights_file, subwords, num_heads=0)


def test_a_folder_that_is_in_use(weights_file, subwords, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/notes.txt").write_text("mine")
    with pytest.raises(InputError, match="run: contains other files"):
        import_tutorial(weights_file, subwords, tmp_path / "run", "wikidocs")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes.txt"]
    import_tutorial(weights_file, subwords, tmp_path / "good", "wikidocs")
    with pytest.raises(InputError, match="good: already contains a run"):
        import_tutorial(weights_file, subwords, tmp_path / "good", "wikidocs")
