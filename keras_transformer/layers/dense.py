"""Linear layers, with which every sublayer begins and ends."""

import keras
from keras import ops

PARTS = 4  # Of the product of a single row; the cores share them.


@keras.saving.register_keras_serializable(package="keras_transformer")
class Dense(keras.layers.Dense):
    """x W + b, as Keras has it, but faster for a single row, such as a step of decoding one answer reads.

    There the time goes into reading W. XLA lets one core do it alone; as a batch of products, of parts of the row with
    the rows of W that belong to them, all cores do.
    """

    def call(self, inputs, training=None):
        depth = inputs.shape[-1]
        if any(size != 1 for size in inputs.shape[:-1]) or depth % PARTS:
            return super().call(inputs, training=training)
        parts = ops.reshape(self.kernel, (PARTS, depth // PARTS, self.units))
        x = ops.sum(ops.matmul(ops.reshape(inputs, (PARTS, 1, depth // PARTS)), parts), axis=0)
        x = ops.reshape(x, (*inputs.shape[:-1], self.units))
        return self.activation(x + self.bias)
