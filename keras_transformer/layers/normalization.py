"""Layer normalization (Ba et al. 2016), which section 3.1 puts after every sublayer."""

import keras
from keras import ops

from keras_transformer.backend import xla

EPSILON = 1e-6


@keras.saving.register_keras_serializable(package="keras_transformer")
class LayerNormalization(keras.layers.LayerNormalization):
    """Keras's layer normalization over the last axis, as one program where that is faster."""

    def __init__(self, epsilon=EPSILON, **kwargs):
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, inputs, training=None):
        if training and xla.fusible(inputs):
            return xla.fused(normalized)(inputs, self.gamma, self.beta, self.epsilon)
        return super().call(inputs)


def normalized(x, gamma, beta, epsilon=EPSILON):
    """What `LayerNormalization` does in training, as one program."""
    return ops.layer_normalization(x, gamma, beta, axis=-1, epsilon=epsilon)
