import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.models.packed import packed
from keras_transformer.models.transformer import transformer

QUESTIONS = [[5, 6, 7], [9, 3]]
ANSWERS = [[1, 2, 3], [1, 6, 7, 8]]
ROW = {  # Both pairs in one row, with padding at its end.
    "inputs": np.array([[5, 6, 7, 9, 3, 0]], "int32"),
    "segments": np.array([[1, 1, 1, 2, 2, 0]], "int32"),
    "dec_inputs": np.array([[1, 2, 3, 1, 6, 7, 8, 0]], "int32"),
    "dec_segments": np.array([[1, 1, 1, 2, 2, 2, 2, 0]], "int32"),
}


@pytest.fixture(
    scope="module",
    params=[{}, {"tie_embeddings": True}, {"norm_first": True}],
    ids=["untied", "tied", "pre-norm"],
)
def model(request):
    keras.utils.set_random_seed(0)
    sizes = {"vocab_size": 12, "num_layers": 2, "dff": 16, "d_model": 8, "num_heads": 2}
    return transformer(**sizes, dropout=0.5, **request.param)


def test_each_pair_is_read_as_if_it_stood_alone(model):
    together = ops.convert_to_numpy(packed(model)(ROW))[0]
    for question, answer, where in zip(QUESTIONS, ANSWERS, (slice(0, 3), slice(3, 7))):
        alone = ops.convert_to_numpy(model([np.array([question]), np.array([answer])]))[0]
        np.testing.assert_allclose(together[where], alone, atol=1e-5)


def test_the_order_of_the_pairs_does_not_matter(model):
    swapped = {name: np.concatenate([ids[:, 3:5], ids[:, :3], ids[:, 5:]], axis=1) for name, ids in ROW.items()}
    for name in ("dec_inputs", "dec_segments"):
        swapped[name] = np.concatenate([ROW[name][:, 3:7], ROW[name][:, :3], ROW[name][:, 7:]], axis=1)
    here, there = (ops.convert_to_numpy(packed(model)(row))[0] for row in (ROW, swapped))
    np.testing.assert_allclose(there[4:7], here[:3], atol=1e-5)
    np.testing.assert_allclose(there[:4], here[3:7], atol=1e-5)


def test_the_other_pair_and_the_future_are_not_seen(model):
    before = ops.convert_to_numpy(packed(model)(ROW))[0]
    changed = {name: ids.copy() for name, ids in ROW.items()}
    changed["inputs"][0, 3], changed["dec_inputs"][0, 5] = 10, 10  # In the second pair, from its third token on.
    after = ops.convert_to_numpy(packed(model)(changed))[0]
    np.testing.assert_array_equal(after[:3], before[:3])
    assert np.abs(after[3:7] - before[3:7]).max() > 0


def test_training_it_trains_the_model(model):
    joined = packed(model)
    assert [weight.path for weight in joined.weights] == [weight.path for weight in model.weights]
    assert all(a is b for a, b in zip(joined.weights, model.weights))


def test_a_row_of_padding_is_finite(model):
    empty = {name: np.zeros_like(ids) for name, ids in ROW.items()}
    assert np.isfinite(ops.convert_to_numpy(packed(model)(empty))).all()


def test_saved_and_loaded_without_custom_objects(model, tmp_path):
    packed(model).save(tmp_path / "packed.keras")
    loaded = keras.saving.load_model(tmp_path / "packed.keras", safe_mode=True)
    np.testing.assert_array_equal(ops.convert_to_numpy(loaded(ROW)), ops.convert_to_numpy(packed(model)(ROW)))
