import numpy as np

from keras_transformer.runs.quantization import dequantized, quantized


def test_each_output_has_a_scale_of_its_own():
    tensors = quantized({"dense/kernel": np.array([[1.27, -100.0], [0.01, 50.0]], "float32")})
    assert tensors["dense/kernel"].dtype == np.int8
    assert tensors["dense/kernel"].tolist() == [[127, -127], [1, 64]]
    np.testing.assert_allclose(tensors["dense/kernel/scale"], [[0.01, 100 / 127]], rtol=1e-6)


def test_each_token_has_a_scale_of_its_own():
    tensors = quantized({"embedding/table": np.array([[1.27, -0.64], [0.0, 0.0]], "float32")})
    assert tensors["embedding/table"].tolist() == [[127, -64], [0, 0]]
    np.testing.assert_allclose(tensors["embedding/table/scale"], [[0.01], [1 / 127]], rtol=1e-6)


def test_no_weight_moves_by_more_than_half_a_step():
    random = np.random.default_rng(0)
    weights = {"a/kernel": random.normal(size=(20, 30)).astype("float32"), "a/bias": random.normal(size=30)}
    tensors = quantized(weights)
    found = dequantized(tensors)
    assert found.keys() == weights.keys()
    assert found["a/kernel"].dtype == np.float32
    assert np.all(np.abs(found["a/kernel"] - weights["a/kernel"]) <= 0.5001 * tensors["a/kernel/scale"])
    assert found["a/bias"] is weights["a/bias"]
