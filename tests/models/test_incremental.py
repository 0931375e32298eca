import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.models.incremental import IncrementalTransformer
from keras_transformer.models.transformer import transformer

pytestmark = pytest.mark.heavy

SOURCE = np.array([[5, 6, 7, 8], [9, 3, 0, 0], [4, 0, 0, 0]], "int32")  # Three questions of different lengths.
TARGET = np.array([[1, 2, 3, 4, 5], [1, 6, 7, 8, 9], [1, 5, 5, 2, 2]], "int32")


@pytest.fixture(
    scope="module",
    params=[{}, {"tie_embeddings": True}, {"norm_first": True}],
    ids=["untied", "tied", "pre-norm"],
)
def model(request):
    keras.utils.set_random_seed(0)
    sizes = {"vocab_size": 12, "num_layers": 2, "dff": 16, "d_model": 8, "num_heads": 2}
    return transformer(**sizes, dropout=0.5, **request.param)


def steps(model, source, target, rows, make_index=int):
    incremental = IncrementalTransformer(model)
    cache = incremental.prefill(source, rows)
    logits = []
    for i in range(target.shape[1]):
        step, cache = incremental.decode_step(target[:, i], make_index(i), cache)
        logits.append(ops.convert_to_numpy(step))
    return np.stack(logits, axis=1)


@pytest.mark.parametrize("rows", [5, 9], ids=["as many rows as steps", "more rows than steps"])
def test_a_step_at_a_time_equals_the_whole_pass(model, rows):
    logits = steps(model, SOURCE, TARGET, rows)
    assert logits.shape == (3, 5, 12)
    np.testing.assert_allclose(logits, ops.convert_to_numpy(model([SOURCE, TARGET])), atol=1e-5)


def test_the_index_may_be_a_tensor(model):
    logits = steps(model, SOURCE, TARGET, 7, make_index=lambda i: ops.convert_to_tensor(i, "int32"))
    np.testing.assert_allclose(logits, ops.convert_to_numpy(model([SOURCE, TARGET])), atol=1e-5)


def test_a_loaded_model_is_stepped_alike(model, tmp_path):
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    np.testing.assert_array_equal(steps(loaded, SOURCE, TARGET, 5), steps(model, SOURCE, TARGET, 5))


def test_the_cache_keeps_its_structure_from_step_to_step(model):
    # A compiled loop carries it, and may not change a shape, a dtype or a key.
    incremental = IncrementalTransformer(model)
    first = incremental.prefill(SOURCE, rows=6)
    _, second = incremental.decode_step(TARGET[:, 0], 0, first)
    keras.tree.assert_same_structure(first, second)

    def describe(x):
        return (tuple(x.shape), keras.backend.standardize_dtype(x.dtype))

    before, after = ([describe(x) for x in keras.tree.flatten(cache)] for cache in (first, second))
    assert before == after


def test_a_step_leaves_the_cache_it_was_given(model):
    incremental = IncrementalTransformer(model)
    _, cache = incremental.decode_step(TARGET[:, 0], 0, incremental.prefill(SOURCE, rows=6))
    one, _ = incremental.decode_step(TARGET[:, 1], 1, cache)
    incremental.decode_step(TARGET[:, 2], 1, cache)
    again, _ = incremental.decode_step(TARGET[:, 1], 1, cache)
    np.testing.assert_array_equal(ops.convert_to_numpy(again), ops.convert_to_numpy(one))


def test_copies_of_a_question_stand_side_by_side_and_can_be_exchanged(model):
    # As beam search does: only what was said differs between the rows of a question.
    incremental = IncrementalTransformer(model)
    cache = incremental.prefill(SOURCE, rows=6, copies=2)
    _, cache = incremental.decode_step(np.repeat(TARGET[:, 0], 2), 0, cache)
    said = np.array([4, 5, 6, 7, 8, 9])
    _, cache = incremental.decode_step(said, 1, cache)
    rows = np.array([1, 1, 2, 3, 5, 4])
    logits, _ = incremental.decode_step(np.full(6, 3), 2, incremental.reorder_cache(cache, rows))
    whole = model([SOURCE[rows // 2], np.stack([TARGET[rows // 2, 0], said[rows], np.full(6, 3)], axis=1)])
    np.testing.assert_allclose(ops.convert_to_numpy(logits), ops.convert_to_numpy(whole)[:, 2], atol=1e-5)


def test_logits_are_float32_whatever_the_policy():
    policy = keras.config.dtype_policy()
    try:
        keras.config.set_dtype_policy("mixed_bfloat16")
        mixed = transformer(12, 1, 16, 8, 2, 0.1)
    finally:
        keras.config.set_dtype_policy(policy)
    incremental = IncrementalTransformer(mixed)
    cache = incremental.prefill(SOURCE, rows=5)
    assert keras.backend.standardize_dtype(cache["layers"][0]["self_attention"]["key"].dtype) == "bfloat16"
    logits, _ = incremental.decode_step(TARGET[:, 0], 0, cache)
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"
    whole = ops.convert_to_numpy(ops.cast(mixed([SOURCE, TARGET]), "float32"))
    np.testing.assert_allclose(steps(mixed, SOURCE, TARGET, 5), whole, atol=0.1)


def test_a_foreign_model_is_refused():
    inputs = keras.Input((3,))
    foreign = keras.Model(inputs, keras.layers.Dense(2, name="outputs")(inputs))
    with pytest.raises(ValueError, match=r"pass a model created by transformer\(\)"):
        IncrementalTransformer(foreign)
