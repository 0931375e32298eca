import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.models.decoder import Decoder, DecoderLayer, decoder, decoder_layer

FUTURE = np.array([[[[0, 1, 1], [0, 0, 1], [0, 0, 0]]]] * 2, "float32")  # Of an answer of three tokens.
PADDING = np.array([[[[0, 0, 0, 1]]], [[[0, 0, 0, 0]]]], "float32")  # Of a memory of four; the first row's last hidden.


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def randomize(layer):
    """Replaces every weight, biases and gains too, so that none of them is neutral."""
    layer.set_weights([random(*w.shape, seed=i) for i, w in enumerate(layer.weights)])


def numpy_weights(layer):
    return {w.path.split("/", 1)[1]: ops.convert_to_numpy(w) for w in layer.weights}


def dense(x, weights, name):
    return x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]


def attention(query, memory, mask, weights, name, num_heads):
    q, k, v = (
        dense(x, weights, f"{name}/{part}") for x, part in ((query, "query"), (memory, "key"), (memory, "value"))
    )
    heads = []
    for qh, kh, vh in zip(*(np.split(x, num_heads, axis=-1) for x in (q, k, v)), strict=True):
        logits = qh @ kh.transpose(0, 2, 1) / np.sqrt(qh.shape[-1])
        exp = np.exp(logits - logits.max(-1, keepdims=True)) * (1 - mask[:, 0])
        heads.append(exp / exp.sum(-1, keepdims=True) @ vh)
    return dense(np.concatenate(heads, -1), weights, f"{name}/output")


def normalize(x, weights, name):
    x = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    return x * weights[f"{name}/norm/gamma"] + weights[f"{name}/norm/beta"]


def test_layer_follows_the_paper():
    layer = DecoderLayer(dff=16, d_model=8, num_heads=2, dropout=0.5)
    x, memory = random(2, 3, 8), random(2, 4, 8, seed=1)
    layer.build(x.shape, memory.shape)
    randomize(layer)
    weights = numpy_weights(layer)
    y = normalize(x + attention(x, x, FUTURE, weights, "self_attention", 2), weights, "self_attention_norm")
    y = normalize(y + attention(y, memory, PADDING, weights, "cross_attention", 2), weights, "cross_attention_norm")
    inner = np.maximum(dense(y, weights, "feed_forward/inner"), 0)
    expected = normalize(y + dense(inner, weights, "feed_forward/outer"), weights, "feed_forward_norm")
    output = layer(x, memory, FUTURE, PADDING)
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("sublayer", ["self_attention_norm", "cross_attention_norm", "feed_forward_norm"])
def test_each_sublayer_has_its_own_dropout(sublayer):
    keras.utils.set_random_seed(0)
    layer = DecoderLayer(dff=16, d_model=8, num_heads=2, dropout=0.5)
    inputs = (random(2, 3, 8), random(2, 4, 8, seed=1), FUTURE, PADDING)
    inference = ops.convert_to_numpy(layer(*inputs))
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(*inputs, training=False)), inference)
    for name in {"self_attention_norm", "cross_attention_norm", "feed_forward_norm"} - {sublayer}:
        getattr(layer, name).dropout.rate = 0
    assert not np.allclose(ops.convert_to_numpy(layer(*inputs, training=True)), inference, atol=1e-3)


def test_layer_returns_its_attention_scores_if_asked_for():
    layer = DecoderLayer(dff=16, d_model=8, num_heads=2, dropout=0.1)
    inputs = (random(2, 3, 8), random(2, 4, 8, seed=1), FUTURE, PADDING)
    output, scores = layer(*inputs, return_attention_scores=True)
    np.testing.assert_array_equal(ops.convert_to_numpy(output), ops.convert_to_numpy(layer(*inputs)))
    own, cross = (ops.convert_to_numpy(scores[name]) for name in ("self_attention", "cross_attention"))
    assert own.shape == (2, 2, 3, 3)
    np.testing.assert_array_equal(own > 0, np.broadcast_to(FUTURE == 0, own.shape))
    assert cross.shape == (2, 2, 3, 4)
    np.testing.assert_array_equal(cross > 0, np.broadcast_to(PADDING == 0, cross.shape))


def test_without_layers_the_stack_adds_positions():
    stack = Decoder(num_layers=0, dff=1, d_model=4, num_heads=1, dropout=0.5)
    memory, mask = np.zeros((1, 1, 4), "float32"), np.zeros((1, 1, 1, 1), "float32")
    output = stack(np.array([[[2, 4, 6, 8], [-2, 0, 2, 0]]], "float32"), memory, mask, mask)
    # [2, 4, 6, 8] + [0, 1, 0, 1], then [−2, 0, 2, 0] + [sin 1, cos 1, sin 0.01, cos 0.01]
    expected = [[[2, 5, 6, 9], [-2 + np.sin(1), np.cos(1), 2 + np.sin(0.01), np.cos(0.01)]]]
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected, atol=1e-5)
    keras.utils.set_random_seed(0)
    dropped = ops.convert_to_numpy(stack(np.full((1, 9, 4), 9.0), memory, mask, mask, training=True))
    assert 0 < (dropped == 0).sum() < dropped.size  # After the sum, about half is dropped.


def test_the_stack_applies_its_layers_in_order():
    sizes = {"dff": 16, "d_model": 8, "num_heads": 2, "dropout": 0.1}
    stack = Decoder(num_layers=2, **sizes)
    x, others = random(2, 3, 8, seed=1), (random(2, 4, 8), FUTURE, PADDING)
    output = stack(x, *others)
    below = Decoder(num_layers=0, **sizes)(x, *others)
    expected = stack.layers[1](stack.layers[0](below, *others), *others)
    np.testing.assert_allclose(ops.convert_to_numpy(output), ops.convert_to_numpy(expected), atol=1e-5)


def test_start_cache_holds_the_memory_and_room_for_the_answer():
    stack = Decoder(num_layers=2, dff=16, d_model=8, num_heads=2, dropout=0.1)
    memory = random(3, 5, 8)
    stack.build((3, None, 8), memory.shape)
    caches = stack.start_cache(memory, rows=7)
    assert len(caches) == 2
    for cache, layer in zip(caches, stack.layers, strict=True):
        for name in ("key", "value"):
            np.testing.assert_array_equal(ops.convert_to_numpy(cache["self_attention"][name]), np.zeros((3, 2, 7, 4)))
            part = getattr(layer.cross_attention, f"{name}_dense")
            heads = ops.convert_to_numpy(part(memory)).reshape(3, 5, 2, 4).transpose(0, 2, 1, 3)
            np.testing.assert_allclose(ops.convert_to_numpy(cache["cross_attention"][name]), heads, atol=1e-6)


def test_decoder_layer_model():
    model = decoder_layer(dff=512, d_model=128, num_heads=4, dropout=0.3)
    assert isinstance(model, keras.Model)
    assert model.name == "decoder_layer"
    assert [x.name for x in model.inputs] == ["inputs", "encoder_outputs", "look_ahead_mask", "padding_mask"]
    assert [x.shape for x in model.inputs] == [
        (None, None, 128),
        (None, None, 128),
        (None, 1, None, None),
        (None, 1, 1, None),
    ]
    assert model.output_shape == (None, None, 128)
    assert model([random(2, 3, 128), random(2, 4, 128), FUTURE, PADDING]).shape == (2, 3, 128)
    attention = 4 * (128 * 128 + 128)
    feed_forward = (128 * 512 + 512) + (512 * 128 + 128)
    assert model.count_params() == 2 * attention + feed_forward + 3 * (128 + 128)
    assert decoder_layer(8, 4, 2, 0.1, name="first").name == "first"


def test_decoder_model():
    model = decoder(vocab_size=50, num_layers=2, dff=16, d_model=8, num_heads=2, dropout=0.3)
    assert isinstance(model, keras.Model)
    assert model.name == "decoder"
    assert [x.name for x in model.inputs] == ["inputs", "encoder_outputs", "look_ahead_mask", "padding_mask"]
    assert [x.shape for x in model.inputs] == [
        (None, None),
        (None, None, 8),
        (None, 1, None, None),
        (None, 1, 1, None),
    ]
    assert model.output_shape == (None, None, 8)
    assert model([np.array([[1, 2, 3], [4, 5, 6]]), random(2, 4, 8), FUTURE, PADDING]).shape == (2, 3, 8)
    layer = 2 * 4 * (8 * 8 + 8) + (8 * 16 + 16) + (16 * 8 + 8) + 3 * (8 + 8)
    assert model.count_params() == 50 * 8 + 2 * layer
    assert decoder(9, 1, 8, 4, 2, 0.1, name="writer").name == "writer"


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="128 cannot be split into 3"):
        decoder_layer(dff=512, d_model=128, num_heads=3, dropout=0.3)


@pytest.mark.parametrize(
    "layer",
    [
        DecoderLayer(16, 8, 2, 0.25, name="one", dtype="mixed_bfloat16"),
        Decoder(2, 16, 8, 2, 0.25, name="stack", dtype="mixed_bfloat16"),
    ],
)
def test_config_round_trip(layer):
    config = layer.get_config()
    copy = type(layer).from_config(config)
    assert copy.get_config() == config
    assert config["name"] == layer.name
    inner = copy.layers[-1] if isinstance(copy, Decoder) else copy
    assert inner.cross_attention.query_dense.compute_dtype == "bfloat16"
    assert inner.feed_forward_norm.dropout.rate == 0.25


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (decoder_layer(16, 8, 2, 0.25), random(2, 3, 8)),
        (decoder(9, 2, 16, 8, 2, 0.25), np.array([[1, 2, 3], [4, 5, 6]])),
    ],
    ids=["decoder_layer", "decoder"],
)
def test_models_are_saved_and_loaded(model, inputs, tmp_path):
    paths = [w.path for w in model.weights]
    assert len(set(paths)) == len(paths)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    inputs = [inputs, random(2, 4, 8), FUTURE, PADDING]
    np.testing.assert_array_equal(ops.convert_to_numpy(loaded(inputs)), ops.convert_to_numpy(model(inputs)))


def test_a_pre_norm_stack_normalizes_every_sublayers_input_and_its_own_output():
    stack = Decoder(num_layers=2, dff=16, d_model=8, num_heads=2, dropout=0.5, norm_first=True)
    x, memory = random(2, 3, 8), random(2, 4, 8, seed=1)
    stack.build(x.shape, memory.shape)
    randomize(stack)
    y = ops.convert_to_numpy(stack.position(x))
    for layer in stack.layers:
        weights = {w.path.split("/", 2)[2]: ops.convert_to_numpy(w) for w in layer.weights}
        z = normalize(y, weights, "self_attention_norm")
        y = y + attention(z, z, FUTURE, weights, "self_attention", 2)
        z = normalize(y, weights, "cross_attention_norm")
        y = y + attention(z, memory, PADDING, weights, "cross_attention", 2)
        z = normalize(y, weights, "feed_forward_norm")
        y = y + dense(np.maximum(dense(z, weights, "feed_forward/inner"), 0), weights, "feed_forward/outer")
    expected = normalize(y, {f"stack/{name}": w for name, w in numpy_weights(stack).items()}, "stack")
    output = stack(x, memory, FUTURE, PADDING)
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected, rtol=1e-3, atol=1e-3)


def test_pre_norm_is_part_of_the_config():
    for layer in (DecoderLayer(16, 8, 2, 0.25, norm_first=True), Decoder(2, 16, 8, 2, 0.25, norm_first=True)):
        config = layer.get_config()
        assert type(layer).from_config(config).get_config() == config
        assert config.pop("norm_first")
        assert not type(layer).from_config(config).get_config()["norm_first"]  # As before the option was there.


def test_pre_norm_models_have_one_more_norm_a_stack():
    assert decoder_layer(16, 8, 2, 0.1, norm_first=True).count_params() == decoder_layer(16, 8, 2, 0.1).count_params()
    model = decoder(9, 2, 16, 8, 2, 0.1, norm_first=True)
    assert model.count_params() == decoder(9, 2, 16, 8, 2, 0.1).count_params() + 8 + 8
