"""Add & Norm: what surrounds every sublayer (section 3.1, with the dropout of section 5.4)."""

import keras


@keras.saving.register_keras_serializable(package="keras_transformer")
class AddAndNorm(keras.layers.Layer):
    """LayerNorm(x + Dropout(Sublayer(x))), the post-norm residual of section 3.1: all shapes (batch, length, d_model).

    Args:
        dropout: Dropout rate of the sublayer's output (section 5.4).
    """

    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.rate = dropout
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6, name="norm", dtype=self.dtype_policy)

    def build(self, x_shape, sublayer_shape):
        self.norm.build(x_shape)

    def call(self, x, sublayer, training=None):
        return self.norm(x + self.dropout(sublayer, training=training))

    def compute_output_shape(self, x_shape, sublayer_shape):
        return x_shape

    def get_config(self):
        return {**super().get_config(), "dropout": self.rate}
