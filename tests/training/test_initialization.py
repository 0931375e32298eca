import keras
import numpy as np
import pytest

from keras_transformer import transformer
from keras_transformer.models.packed import packed
from keras_transformer.training.initialization import initialize_as_tensorflow


@pytest.mark.parametrize("tied", [False, True])
def test_what_is_drawn_is_what_tensorflow_draws(monkeypatch, tied):
    keras.utils.set_random_seed(7)
    model = packed(transformer(50, 2, 24, 16, 2, 0.1, target_vocab_size=30, tie_embeddings=tied))
    weights = [variable.numpy() for variable in model.variables]
    initialize_as_tensorflow(model)
    for before, variable in zip(weights, model.variables, strict=True):
        np.testing.assert_array_equal(variable.numpy(), before, err_msg=variable.path)  # TensorFlow has drawn already.
    for variable in model.trainable_variables:
        if np.unique(variable.numpy()).size > 1:
            variable.assign(np.zeros(variable.shape))
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    initialize_as_tensorflow(model)
    for before, variable in zip(weights, model.variables, strict=True):
        np.testing.assert_array_equal(variable.numpy(), before, err_msg=variable.path)
