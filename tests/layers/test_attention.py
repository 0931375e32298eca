import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.layers.attention import MultiHeadAttention, scaled_dot_product_attention

KEYS = np.array([[10, 0, 0], [0, 10, 0], [0, 0, 10], [0, 0, 10]], "float32")
VALUES = np.array([[1, 0], [10, 0], [100, 5], [1000, 6]], "float32")
CASES = [
    ([0, 10, 0], [0, 1, 0, 0], [10, 0]),  # The second key alone.
    ([0, 0, 10], [0, 0, 0.5, 0.5], [550, 5.5]),  # The third and the fourth, which are equal.
    ([10, 10, 0], [0.5, 0.5, 0, 0], [5.5, 0]),  # The first and the second.
]


def attend(query, key, value, mask=None):
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    return ops.convert_to_numpy(output), ops.convert_to_numpy(weights)


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


@pytest.mark.parametrize(("query", "weights", "output"), CASES)
def test_a_query_finds_the_keys_it_points_at(query, weights, output):
    found, seen = attend(np.array([query], "float32"), KEYS, VALUES)
    np.testing.assert_allclose(seen, [weights], atol=1e-6)
    np.testing.assert_allclose(found, [output], atol=1e-4)


def test_several_queries_at_once():
    queries, weights, outputs = zip(*CASES, strict=True)
    found, seen = attend(np.array(queries, "float32"), KEYS, VALUES)
    np.testing.assert_allclose(seen, weights, atol=1e-6)
    np.testing.assert_allclose(found, outputs, atol=1e-4)


def test_messi_smile_brightly():
    x = np.array([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]], "float32")
    query = x @ np.array([[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]], "float32")
    key = x @ np.array([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]], "float32")
    value = x @ np.array([[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]], "float32")
    output, weights = attend(query, key, value)
    np.testing.assert_allclose(
        weights, [[0.13613, 0.43194, 0.43194], [0.00089, 0.90884, 0.09027], [0.00744, 0.75471, 0.23785]], atol=1e-5
    )
    np.testing.assert_allclose(
        output, [[1.8639, 6.3194, 1.7042], [1.9991, 7.8141, 0.2735], [1.9926, 7.4796, 0.7359]], atol=1e-4
    )


def test_hidden_keys_get_no_weight_at_all():
    # All keys are equal, so the weight is shared among those that may be seen.
    output, weights = attend(np.ones((1, 3)), np.ones((4, 3)), VALUES, np.array([[0, 1, 0, 1]], "float32"))
    np.testing.assert_array_equal(weights, [[0.5, 0, 0.5, 0]])
    np.testing.assert_allclose(output, [[50.5, 2.5]], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
def test_any_nonzero_mask_hides(dtype):
    _, weights = attend(np.ones((1, 3)), np.ones((4, 3)), VALUES, np.array([[0, 1, 0, 1]], dtype))
    np.testing.assert_array_equal(weights, [[0.5, 0, 0.5, 0]])


def test_what_hidden_keys_and_values_hold_does_not_matter():
    mask = np.array([[0, 0, 1, 1]], "float32")
    query, key, value = random(5, 3), random(4, 3, seed=1), random(4, 2, seed=2)
    output, weights = attend(query, key, value, mask)
    key[2:], value[2:] = 1e4, -1e4
    changed_output, changed_weights = attend(query, key, value, mask)
    np.testing.assert_array_equal(changed_output, output)
    np.testing.assert_array_equal(changed_weights, weights)


def test_a_query_that_sees_nothing_gets_zeros():
    mask = np.array([[1, 1, 1, 1], [0, 0, 0, 0]], "float32")
    output, weights = attend(np.ones((2, 3)), np.ones((4, 3)), VALUES, mask)
    np.testing.assert_array_equal(weights, [[0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    np.testing.assert_allclose(output, [[0, 0], [277.75, 2.75]], rtol=1e-6)


def test_a_single_key_gets_all_the_weight_without_a_warning():
    output, weights = attend(random(2, 3), KEYS[:1], VALUES[1:2])
    np.testing.assert_array_equal(weights, [[1], [1]])
    np.testing.assert_array_equal(output, [[10, 0], [10, 0]])
    output, weights = attend(random(2, 3), KEYS[:1], VALUES[1:2], np.array([[1], [0]], "float32"))
    np.testing.assert_array_equal(weights, [[0], [1]])
    np.testing.assert_array_equal(output, [[0, 0], [10, 0]])


def test_a_query_that_sees_nothing_trains_without_nan():
    x, mask = keras.Input((3, 4)), keras.Input((1, 1, 3))
    attended = MultiHeadAttention(4, 2)({"query": x, "key": x, "value": x, "mask": mask})
    model = keras.Model([x, mask], attended)
    model.compile("sgd", loss="mse")
    before = [np.array(w) for w in model.get_weights()]
    hidden = np.zeros((2, 1, 1, 3), "float32")
    hidden[1] = 1  # Every key of the second row.
    assert np.isfinite(model.train_on_batch([random(2, 3, 4), hidden], np.ones((2, 3, 4))))
    assert all(np.isfinite(w).all() for w in model.get_weights())
    assert any((w != old).any() for w, old in zip(model.get_weights(), before, strict=True))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_stays_finite(dtype):
    # q·k = 64 · 50² = 160,000 is beyond float16; divided by √64 it is 20,000.
    query = ops.full((1, 64), 50, dtype=dtype)
    key = ops.concatenate([ops.full((1, 64), 50, dtype=dtype), ops.full((2, 64), -50, dtype=dtype)], axis=0)
    value = ops.convert_to_tensor([[1, 2], [3, 4], [5, 6]], dtype)
    output, weights = scaled_dot_product_attention(query, key, value, None)
    assert keras.backend.standardize_dtype(output.dtype) == dtype
    np.testing.assert_array_equal(ops.convert_to_numpy(ops.cast(weights, "float32")), [[1, 0, 0]])
    np.testing.assert_array_equal(ops.convert_to_numpy(ops.cast(output, "float32")), [[1, 2]])
    output, weights = scaled_dot_product_attention(query, key, value, np.array([[1, 0, 0]]))
    np.testing.assert_array_equal(ops.convert_to_numpy(ops.cast(weights, "float32")), [[0, 0.5, 0.5]])
    np.testing.assert_array_equal(ops.convert_to_numpy(ops.cast(output, "float32")), [[4, 5]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_softmax_is_computed_in_float32(dtype):
    # A sum of 3,000 ones: in float16 it would end at 2,048, in bfloat16 at 256, where adding 1 changes nothing.
    query, key = ops.ones((1, 1), dtype=dtype), ops.ones((3000, 1), dtype=dtype)
    _, weights = scaled_dot_product_attention(query, key, ops.ones((3000, 1), dtype=dtype), None)
    assert keras.backend.standardize_dtype(weights.dtype) == dtype
    np.testing.assert_allclose(ops.convert_to_numpy(ops.cast(weights, "float32")), 1 / 3000, rtol=2**-8)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_logits_beyond_the_range_of_float16(dtype):
    # 64 · 100² / 8 = 80,000, where float16 ends at 65,504.
    query = ops.full((1, 64), 100, dtype=dtype)
    value = ops.convert_to_tensor([[1, 2], [3, 4]], dtype)
    for first, second, weight in (
        (100, 0, [1, 0]),
        (0, -100, [1, 0]),
        (100, 100, [0.5, 0.5]),
        (-100, -100, [0.5, 0.5]),
    ):
        key = ops.concatenate([ops.full((1, 64), first, dtype=dtype), ops.full((1, 64), second, dtype=dtype)], axis=0)
        output, weights = scaled_dot_product_attention(query, key, value, None)
        np.testing.assert_array_equal(ops.convert_to_numpy(ops.cast(weights, "float32")), [weight])
        assert np.isfinite(ops.convert_to_numpy(ops.cast(output, "float32"))).all()


def test_multi_head_attention_keeps_the_shape():
    x = random(2, 10, 512)
    layer = MultiHeadAttention(512, 8)
    assert layer({"query": x, "key": x, "value": x, "mask": None}).shape == (2, 10, 512)
    assert layer.name == "multi_head_attention"
    kernels = {w.path: tuple(w.shape) for w in layer.weights if w.path.endswith("kernel")}
    assert kernels == {
        f"multi_head_attention/{part}/kernel": (512, 512) for part in ("query", "key", "value", "output")
    }
    assert layer.count_params() == 4 * (512 * 512 + 512)


def test_symbolic_shape_with_a_mask():
    query, memory, mask = keras.Input((None, 8)), keras.Input((5, 8)), keras.Input((1, 1, 5))
    layer = MultiHeadAttention(8, num_heads=2, name="cross")
    assert layer({"query": query, "key": memory, "value": memory, "mask": mask}).shape == (None, None, 8)


def test_multi_head_attention_is_one_attention_per_head():
    layer = MultiHeadAttention(6, 3)  # Each head has 2 of the 6 columns.
    query, key, value = random(2, 4, 6), random(2, 5, 6, seed=1), random(2, 5, 6, seed=2)
    mask = np.zeros((2, 1, 4, 5), "float32")
    mask[0, 0, :, 3:] = 1
    mask[1, 0, 2, 0] = 1
    layer.build({"query": query.shape, "key": key.shape, "value": value.shape})
    layer.set_weights([random(*w.shape, seed=i) for i, w in enumerate(layer.weights)])

    def dense(part, x):
        return x @ ops.convert_to_numpy(part.kernel) + ops.convert_to_numpy(part.bias)

    q, k, v = dense(layer.query_dense, query), dense(layer.key_dense, key), dense(layer.value_dense, value)
    heads = []
    for columns in (slice(0, 2), slice(2, 4), slice(4, 6)):
        logits = q[..., columns] @ k[..., columns].transpose(0, 2, 1) / np.sqrt(2)
        exp = np.exp(logits) * (1 - mask[:, 0])
        heads.append(exp / exp.sum(-1, keepdims=True) @ v[..., columns])
    expected = dense(layer.dense, np.concatenate(heads, -1))
    output = layer({"query": query, "key": key, "value": value, "mask": mask})
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected, rtol=1e-4, atol=1e-4)


def test_one_head_with_identity_kernels_is_scaled_dot_product_attention():
    layer = MultiHeadAttention(3, num_heads=1)
    query, key, value = random(1, 2, 3), random(1, 4, 3, seed=1), random(1, 4, 3, seed=2)
    layer.build({"query": query.shape, "key": key.shape, "value": value.shape})
    layer.set_weights([np.eye(3) if len(w.shape) == 2 else np.zeros(3) for w in layer.weights])
    output = layer({"query": query, "key": key, "value": value, "mask": None})
    np.testing.assert_allclose(ops.convert_to_numpy(output), attend(query, key, value)[0], atol=1e-6)


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="10 cannot be split into 3"):
        MultiHeadAttention(10, 3)


def test_scores_are_returned_if_asked_for():
    layer = MultiHeadAttention(4, 2)
    x, mask = random(1, 3, 4), np.array([[[[0, 0, 1]]]], "float32")
    inputs = {"query": x, "key": x, "value": x, "mask": mask}
    output, scores = layer(inputs, return_attention_scores=True)
    np.testing.assert_array_equal(ops.convert_to_numpy(output), ops.convert_to_numpy(layer(inputs)))
    scores = ops.convert_to_numpy(scores)
    assert scores.shape == (1, 2, 3, 3)
    np.testing.assert_allclose(scores.sum(-1), np.ones((1, 2, 3)), rtol=1e-6)
    np.testing.assert_array_equal(scores[..., 2], np.zeros((1, 2, 3)))


def test_a_cache_that_is_not_updated_stands_for_key_and_value():
    layer = MultiHeadAttention(4, 2)
    x, memory = random(1, 3, 4), random(1, 5, 4, seed=1)
    output = layer({"query": x, "key": memory, "value": memory, "mask": None})
    cache = dict(zip(("key", "value"), layer.keys_and_values({"key": memory, "value": memory}), strict=True))
    again, unchanged = layer({"query": x, "key": None, "value": None, "mask": None}, cache=cache)
    np.testing.assert_array_equal(ops.convert_to_numpy(again), ops.convert_to_numpy(output))
    np.testing.assert_array_equal(ops.convert_to_numpy(unchanged["key"]), ops.convert_to_numpy(cache["key"]))


def test_cache_update_index_says_where_new_rows_are_written():
    layer = MultiHeadAttention(4, 2)
    x = random(1, 2, 4)
    layer.build({"query": x.shape, "key": x.shape, "value": x.shape})
    room = np.zeros((1, 2, 5, 2), "float32")
    mask = np.array([[[[1, 1, 0, 0, 1]]]], "float32")
    inputs = {"query": x, "key": x, "value": x}
    output, cache, scores = layer(
        {**inputs, "mask": mask}, cache={"key": room, "value": room}, cache_update_index=2, return_attention_scores=True
    )
    written = np.abs(ops.convert_to_numpy(cache["key"])).sum(axis=(0, 1, 3)) > 0
    np.testing.assert_array_equal(written, [False, False, True, True, False])
    np.testing.assert_array_equal(ops.convert_to_numpy(scores)[0, 0, 0] > 0, written)
    whole = layer({**inputs, "mask": None})
    np.testing.assert_allclose(ops.convert_to_numpy(output), ops.convert_to_numpy(whole), atol=1e-6)


def test_config_round_trip():
    layer = MultiHeadAttention(8, 2, name="heads", dtype="mixed_bfloat16")
    copy = MultiHeadAttention.from_config(layer.get_config())
    assert (copy.d_model, copy.num_heads, copy.name) == (8, 2, "heads")
    assert copy.get_config() == layer.get_config()
    assert copy.query_dense.compute_dtype == "bfloat16"


def test_a_model_around_the_layer_is_saved_and_loaded(tmp_path):
    x, mask = keras.Input((None, 4)), keras.Input((1, 1, None))
    model = keras.Model([x, mask], MultiHeadAttention(4, 2)({"query": x, "key": x, "value": x, "mask": mask}))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    inputs = [random(2, 3, 4), np.zeros((2, 1, 1, 3), "float32")]
    np.testing.assert_array_equal(ops.convert_to_numpy(loaded(inputs)), ops.convert_to_numpy(model(inputs)))
