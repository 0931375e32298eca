import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.models.encoder import Encoder, EncoderLayer, encoder, encoder_layer

PADDING = np.array([[[[0, 0, 0, 1]]], [[[0, 0, 0, 0]]]], "float32")  # The first row ends with padding.


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
    layer = EncoderLayer(dff=16, d_model=8, num_heads=2, dropout=0.5)
    x = random(2, 4, 8)
    layer.build(x.shape)
    randomize(layer)
    weights = numpy_weights(layer)
    y = normalize(x + attention(x, x, PADDING, weights, "self_attention", 2), weights, "self_attention_norm")
    inner = np.maximum(dense(y, weights, "feed_forward/inner"), 0)
    expected = normalize(y + dense(inner, weights, "feed_forward/outer"), weights, "feed_forward_norm")
    np.testing.assert_allclose(ops.convert_to_numpy(layer(x, PADDING)), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("sublayer", ["self_attention_norm", "feed_forward_norm"])
def test_each_sublayer_has_its_own_dropout(sublayer):
    keras.utils.set_random_seed(0)
    layer = EncoderLayer(dff=16, d_model=8, num_heads=2, dropout=0.5)
    x = random(2, 4, 8)
    inference = ops.convert_to_numpy(layer(x, PADDING))
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(x, PADDING, training=False)), inference)
    for name in {"self_attention_norm", "feed_forward_norm"} - {sublayer}:
        getattr(layer, name).dropout.rate = 0
    assert not np.allclose(ops.convert_to_numpy(layer(x, PADDING, training=True)), inference, atol=1e-3)


def test_layer_returns_its_attention_scores_if_asked_for():
    layer = EncoderLayer(dff=16, d_model=8, num_heads=2, dropout=0.1)
    x = random(2, 4, 8)
    output, scores = layer(x, PADDING, return_attention_scores=True)
    np.testing.assert_array_equal(ops.convert_to_numpy(output), ops.convert_to_numpy(layer(x, PADDING)))
    weights = ops.convert_to_numpy(scores)
    assert weights.shape == (2, 2, 4, 4)
    np.testing.assert_allclose(weights.sum(-1), np.ones((2, 2, 4)), rtol=1e-5)
    np.testing.assert_array_equal(weights[0, :, :, 3], np.zeros((2, 4)))
    assert (weights[1] > 0).all()


def test_without_layers_the_stack_adds_positions():
    stack = Encoder(num_layers=0, dff=1, d_model=4, num_heads=1, dropout=0.5)
    mask = np.zeros((1, 1, 1, 2), "float32")
    output = stack(np.array([[[2, 4, 6, 8], [-2, 0, 2, 0]]], "float32"), mask)
    # [2, 4, 6, 8] + [0, 1, 0, 1], then [−2, 0, 2, 0] + [sin 1, cos 1, sin 0.01, cos 0.01]
    expected = [[[2, 5, 6, 9], [-2 + np.sin(1), np.cos(1), 2 + np.sin(0.01), np.cos(0.01)]]]
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected, atol=1e-5)
    keras.utils.set_random_seed(0)
    dropped = ops.convert_to_numpy(stack(np.full((1, 9, 4), 9.0), np.zeros((1, 1, 1, 9)), training=True))
    assert 0 < (dropped == 0).sum() < dropped.size  # After the sum, about half is dropped.


def test_the_stack_applies_its_layers_in_order():
    sizes = {"dff": 16, "d_model": 8, "num_heads": 2, "dropout": 0.1}
    stack = Encoder(num_layers=2, **sizes)
    x = random(2, 4, 8)
    output, scores = stack(x, PADDING, return_attention_scores=True)
    below = Encoder(num_layers=0, **sizes)(x, PADDING)
    expected = stack.layers[1](stack.layers[0](below, PADDING), PADDING)
    np.testing.assert_allclose(ops.convert_to_numpy(output), ops.convert_to_numpy(expected), atol=1e-5)
    assert [layer.shape for layer in scores] == [(2, 2, 4, 4), (2, 2, 4, 4)]


def test_encoder_layer_model():
    model = encoder_layer(dff=512, d_model=128, num_heads=4, dropout=0.3)
    assert isinstance(model, keras.Model)
    assert model.name == "encoder_layer"
    assert [x.name for x in model.inputs] == ["inputs", "padding_mask"]
    assert [x.shape for x in model.inputs] == [(None, None, 128), (None, 1, 1, None)]
    assert model.output_shape == (None, None, 128)
    assert model([random(2, 4, 128), PADDING]).shape == (2, 4, 128)
    attention = 4 * (128 * 128 + 128)
    feed_forward = (128 * 512 + 512) + (512 * 128 + 128)
    assert model.count_params() == attention + feed_forward + 2 * (128 + 128)
    assert encoder_layer(8, 4, 2, 0.1, name="first").name == "first"


def test_encoder_model():
    model = encoder(vocab_size=50, num_layers=2, dff=16, d_model=8, num_heads=2, dropout=0.3)
    assert isinstance(model, keras.Model)
    assert model.name == "encoder"
    assert [x.name for x in model.inputs] == ["inputs", "padding_mask"]
    assert [x.shape for x in model.inputs] == [(None, None), (None, 1, 1, None)]
    assert model.output_shape == (None, None, 8)
    assert model([np.array([[1, 2, 3, 0], [4, 5, 6, 7]]), PADDING]).shape == (2, 4, 8)
    layer = 4 * (8 * 8 + 8) + (8 * 16 + 16) + (16 * 8 + 8) + 2 * (8 + 8)
    assert model.count_params() == 50 * 8 + 2 * layer
    assert encoder(9, 1, 8, 4, 2, 0.1, name="reader").name == "reader"


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="128 cannot be split into 3"):
        encoder_layer(dff=512, d_model=128, num_heads=3, dropout=0.3)


@pytest.mark.parametrize(
    "layer",
    [
        EncoderLayer(16, 8, 2, 0.25, name="one", dtype="mixed_bfloat16"),
        Encoder(2, 16, 8, 2, 0.25, name="stack", dtype="mixed_bfloat16"),
    ],
)
def test_config_round_trip(layer):
    config = layer.get_config()
    copy = type(layer).from_config(config)
    assert copy.get_config() == config
    assert config["name"] == layer.name
    inner = copy.layers[-1] if isinstance(copy, Encoder) else copy
    assert inner.self_attention.query_dense.compute_dtype == "bfloat16"
    assert inner.feed_forward_norm.dropout.rate == 0.25


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (encoder_layer(16, 8, 2, 0.25), random(2, 4, 8)),
        (encoder(9, 2, 16, 8, 2, 0.25), np.array([[1, 2, 3, 0], [4, 5, 6, 7]])),
    ],
    ids=["encoder_layer", "encoder"],
)
def test_models_are_saved_and_loaded(model, inputs, tmp_path):
    paths = [w.path for w in model.weights]
    assert len(set(paths)) == len(paths)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    np.testing.assert_array_equal(
        ops.convert_to_numpy(loaded([inputs, PADDING])), ops.convert_to_numpy(model([inputs, PADDING]))
    )


def test_a_pre_norm_stack_normalizes_every_sublayers_input_and_its_own_output():
    stack = Encoder(num_layers=2, dff=16, d_model=8, num_heads=2, dropout=0.5, norm_first=True)
    x = random(2, 4, 8)
    stack.build(x.shape)
    randomize(stack)
    y = ops.convert_to_numpy(stack.position(x))
    for layer in stack.layers:
        weights = {w.path.split("/", 2)[2]: ops.convert_to_numpy(w) for w in layer.weights}
        z = normalize(y, weights, "self_attention_norm")
        y = y + attention(z, z, PADDING, weights, "self_attention", 2)
        z = normalize(y, weights, "feed_forward_norm")
        y = y + dense(np.maximum(dense(z, weights, "feed_forward/inner"), 0), weights, "feed_forward/outer")
    expected = normalize(y, {f"stack/{name}": w for name, w in numpy_weights(stack).items()}, "stack")
    np.testing.assert_allclose(ops.convert_to_numpy(stack(x, PADDING)), expected, rtol=1e-3, atol=1e-3)


def test_pre_norm_is_part_of_the_config():
    for layer in (EncoderLayer(16, 8, 2, 0.25, norm_first=True), Encoder(2, 16, 8, 2, 0.25, norm_first=True)):
        config = layer.get_config()
        assert type(layer).from_config(config).get_config() == config
        assert config.pop("norm_first")
        assert not type(layer).from_config(config).get_config()["norm_first"]  # As before the option was there.


def test_pre_norm_models_have_one_more_norm_a_stack(tmp_path):
    assert encoder_layer(16, 8, 2, 0.1, norm_first=True).count_params() == encoder_layer(16, 8, 2, 0.1).count_params()
    model = encoder(9, 2, 16, 8, 2, 0.1, norm_first=True)
    assert model.count_params() == encoder(9, 2, 16, 8, 2, 0.1).count_params() + 8 + 8
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    inputs = [np.array([[1, 2, 3, 0], [4, 5, 6, 7]]), PADDING]
    np.testing.assert_array_equal(ops.convert_to_numpy(loaded(inputs)), ops.convert_to_numpy(model(inputs)))
