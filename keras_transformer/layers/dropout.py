"""Dropout (section 5.4)."""

import keras

from keras_transformer.backend import xla


@keras.saving.register_keras_serializable(package="keras_transformer")
class Dropout(keras.layers.Dropout):
    """Keras's dropout, as one program where that is faster."""

    def call(self, inputs, training=False):
        if training and xla.fusible(inputs):
            return xla.fused(xla.dropout)(inputs, self.rate, self.next_seed())
        return super().call(inputs, training=training)

    def next_seed(self):
        """The seed of the next mask; None if nothing is ever dropped."""
        return self.seed_generator.next() if self.rate else None
