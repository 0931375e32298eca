"""Add & Norm: what surrounds every sublayer (section 3.1, with the dropout of section 5.4)."""

import keras
from keras import ops

from keras_transformer import fusion
from keras_transformer.layers.dropout import Dropout

EPSILON = 1e-6


@keras.saving.register_keras_serializable(package="keras_transformer")
class AddAndNorm(keras.layers.Layer):
    """LayerNorm(x + Dropout(Sublayer(x))), the post-norm residual of section 3.1: all shapes (batch, length, d_model).

    Args:
        dropout: Dropout rate of the sublayer's output (section 5.4).
    """

    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.rate = dropout
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="norm", dtype=self.dtype_policy)

    def build(self, x_shape, sublayer_shape):
        self.norm.build(x_shape)

    def call(self, x, sublayer, training=None):
        if training and fusion.fusible(x, sublayer):
            gamma, beta, seed = self.norm.gamma, self.norm.beta, self.dropout.next_seed()
            return fusion.fused(dropped_added_normed)(x, sublayer, gamma, beta, self.rate, seed)
        return self.norm(x + self.dropout(sublayer, training=training))

    def compute_output_shape(self, x_shape, sublayer_shape):
        return x_shape

    def get_config(self):
        return {**super().get_config(), "dropout": self.rate}


def dropped_added_normed(x, sublayer, gamma, beta, rate, seed):
    """What `AddAndNorm` does in training, as one program."""
    return ops.layer_normalization(x + fusion.dropout(sublayer, rate, seed), gamma, beta, axis=-1, epsilon=EPSILON)
