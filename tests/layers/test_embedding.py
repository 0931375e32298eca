import keras
import numpy as np
import pytest
from keras import ops

from keras_transformer.layers.embedding import TokenEmbedding

TABLE = np.array([[0, 0, 0, 0], [1, 2, 3, 4], [-1, 0, 1, 0]], "float32")


def embedding_of_table():
    layer = TokenEmbedding(3, 4)
    layer.build((None, None))
    layer.set_weights([TABLE])
    return layer


def test_rows_are_looked_up_and_multiplied_by_the_root_of_the_width():
    output = embedding_of_table()(np.array([[1, 2], [0, 1]]))
    expected = [[[2, 4, 6, 8], [-2, 0, 2, 0]], [[0, 0, 0, 0], [2, 4, 6, 8]]]  # √4 = 2
    np.testing.assert_array_equal(ops.convert_to_numpy(output), expected)


def test_in_reverse_a_vector_gets_its_product_with_every_row():
    logits = embedding_of_table()(np.array([[[1, 0, 0, 1]]], "float32"), reverse=True)
    np.testing.assert_array_equal(ops.convert_to_numpy(logits), [[[0, 5, -1]]])  # 1 + 4, and −1 + 0.


def test_embeddings_start_with_unit_variance():
    keras.utils.set_random_seed(0)
    output = TokenEmbedding(1000, 64)(np.arange(1000)[None])
    assert np.std(ops.convert_to_numpy(output)) == pytest.approx(1, rel=0.02)


def test_symbolic_ids():
    outputs = TokenEmbedding(3, 4)(keras.Input((None,), dtype="int32"))
    assert outputs.shape == (None, None, 4)
    assert outputs.dtype == "float32"
    assert not outputs.sparse


def test_the_compute_dtype_is_that_of_the_policy():
    layer = TokenEmbedding(3, 4, dtype="mixed_bfloat16")
    assert layer(keras.Input((None,), dtype="int32")).dtype == "bfloat16"
    assert keras.backend.standardize_dtype(layer(np.array([[1]])).dtype) == "bfloat16"
    assert layer.table.dtype == "float32"


def adam_by_hand(table, gradients, learning_rate=0.1, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
    m, v = np.zeros_like(table), np.zeros_like(table)
    for step, gradient in enumerate(gradients, 1):
        m = beta_1 * m + (1 - beta_1) * gradient
        v = beta_2 * v + (1 - beta_2) * gradient**2
        table = table - learning_rate * m / (1 - beta_1**step) / (np.sqrt(v / (1 - beta_2**step)) + epsilon)
    return table


def test_repeated_tokens_reach_adam_as_one_summed_gradient():
    inputs = keras.Input((3,), dtype="int32")
    layer = TokenEmbedding(4, 4)
    model = keras.Model(inputs, layer(inputs))
    start = ops.convert_to_numpy(layer.table).astype("float64")
    # With the loss Σ y·embedding, the gradient of each occurrence is √4 · y.
    model.compile(keras.optimizers.Adam(0.1, beta_1=0.9, beta_2=0.999, epsilon=1e-7), loss=lambda y, x: ops.sum(y * x))
    ids = np.array([[1, 1, 2]])  # Token 1 stands twice; 0 and 3 never.
    gradients = []
    for first, second in ((1, 3), (2, -1)):
        y = np.zeros((1, 3, 4), "float32")
        y[0, 0], y[0, 1], y[0, 2] = first, second, 5
        model.train_on_batch(ids, y)
        gradient = np.zeros((4, 4))
        gradient[1], gradient[2] = 2 * (first + second), 2 * 5
        gradients.append(gradient)
    np.testing.assert_allclose(ops.convert_to_numpy(layer.table), adam_by_hand(start, gradients), atol=1e-5)


def test_config_round_trip():
    layer = TokenEmbedding(3, 4, name="tokens", dtype="mixed_float16")
    copy = TokenEmbedding.from_config(layer.get_config())
    assert (copy.vocab_size, copy.d_model, copy.name) == (3, 4, "tokens")
    assert copy.get_config() == layer.get_config()
